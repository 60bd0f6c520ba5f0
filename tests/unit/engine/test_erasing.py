"""A run is erased from and stays what it was: its nodes make everything anew from what came from outside."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from engine.lab import Lab, Step, calls
from gateway.engine import events
from gateway.engine.erasing import erase
from gateway.engine.journal import Visit
from gateway.engine.nodes import Retry, Route
from gateway.engine.ports import Effect
from gateway.errors import Erased, ToolError

Make = Callable[..., Lab]
SECRET = "the pelican sleeps"


class Eraser:
    def found(self, text: str) -> bool:
        return SECRET in text

    def clean(self, text: str) -> str:
        return re.sub(SECRET, "[erased]", text)


def left(here: Lab) -> list[str]:
    files = [path for path in here.home.rglob("*") if path.is_file()]
    return [str(path.relative_to(here.home)) for path in files if SECRET[:12].encode() in path.read_bytes()]


async def erased(here: Lab) -> None:
    """Nothing is left, and the run replays: without any call."""
    did = list(here.did)
    kinds = here.kinds()
    assert await erase(here.runs, Eraser())
    assert (left(here), here.kinds(), here.did) == ([], kinds, did)


async def cut(visit: Visit) -> Any:
    """Half of what was seen, whole in small letters, and how many characters that is: none of which can be masked."""
    seen = await visit.call("look", {})
    told = await visit.call("tell", {"half": seen[:20], "size": len(seen)})
    return [await visit.call("tell", {"all": seen.swapcase()}, name="again"), told]


async def test_what_nodes_made_of_it_is_made_again_without_it(lab: Make) -> None:
    here = lab(Step("A", cut))
    here.op("look", Effect.READ, f"It is said that {SECRET} here.")
    here.op("tell", Effect.READ, f"told {SECRET}")
    await here.start()
    assert left(here)
    await erased(here)
    await here.identical()
    intended = [event.data for event in here.events(events.CALL_INTENDED)]
    first, second = [data["args"] for data in intended if data["op"] == "tell"]
    assert first == {"half": "It is said that [era", "size": 30}
    assert second == {"all": "iT IS SAID THAT [ERASED] HERE."}


async def test_large_values_are_other_artifacts_then(lab: Make) -> None:
    here = lab(Step("A", calls("look"), "B"), Step("B"))
    here.op("look", Effect.READ, {"pages": [f"{SECRET} " * 900]})
    await here.start()
    before = {path.name for path in (here.home / "artifacts").rglob("*") if path.is_file()}
    await erased(here)
    await here.identical()
    assert not before & {path.name for path in (here.home / "artifacts").rglob("*") if path.is_file()}


async def test_failures_retries_and_answers_stay_what_they_were(lab: Make) -> None:
    async def body(visit: Visit) -> Any:
        seen = await visit.call("see", {})
        answer = await visit.ask("q", f"Is it so that {seen.upper()}?".lower())
        return [answer, await visit.call("look", {"what": answer})]

    here = lab(Step("A", body, retry=Retry(max_attempts=3)))
    here.op("see", Effect.READ, SECRET)
    here.op("look", Effect.READ, ToolError(f"not {SECRET}"), ToolError("not yet"), "found")
    await here.start()
    await here.runs.answer(here.id, f"Yes, {SECRET}")
    await here.resume()
    await erased(here)
    await here.identical()
    row = here.row()
    assert "pelican" not in f"{row}{here.events()}"


async def test_a_run_that_took_its_way_by_it_says_that_it_was_erased(lab: Make) -> None:
    way = Route[Any](lambda state: "B" if len(str(state.lines[-1])) > 15 else "C", ("B", "C"))
    here = lab(Step("A", calls("look"), way), Step("B"), Step("C"))
    here.op("look", Effect.READ, SECRET)
    await here.start()
    await erased(here)
    with pytest.raises(Erased, match="cannot be replayed: something it depended on was erased"):
        await here.runs.replay(here.id)
    assert here.page().read_text().count("[erased]") == 1
    await erased(here)  # and again changes nothing


async def test_a_call_that_happens_once_is_not_made_again_after_an_erasure(lab: Make) -> None:
    failing = [True]

    async def body(visit: Visit) -> Any:
        seen = await visit.call("look", {})
        paid = await visit.call("pay", {"for": seen})
        if failing:
            raise ToolError("the door is shut")
        return paid

    here = lab(Step("A", body, retry=Retry(max_attempts=1)))
    here.op("look", Effect.READ, SECRET)
    here.op("pay", Effect.ONCE, "paid")
    await here.start()
    await erased(here)
    failing.clear()
    here.op("look", Effect.READ, "[erased]")
    state = await here.resume()
    assert (str(state.status), here.names().count("pay")) == ("complete", 1)


async def test_a_child_that_is_under_way_keeps_its_parent_pending(lab: Make) -> None:
    here = lab(Step("A", calls("look")))
    here.op("look", Effect.READ, SECRET)
    await here.start()
    await here.store.write(lambda db: db.execute("UPDATE runs SET status = 'failed'"))
    begun = {"key": "1/trip#1", "op": "trip", "attempt": 1, "digest": "d", "effect": "CHILD", "args": {}}
    lease = await here.store.acquire(f"run:{here.id}", here.runs.owner, here.clock.now())
    seq = here.store.last_seq(here.id) + 1
    await here.store.append(here.id, lease, [events.Event(seq, events.CALL_INTENDED, begun)])
    await here.store.release(lease)
    assert not await erase(here.runs, Eraser())
    assert left(here)
