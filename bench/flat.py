"""A flat tool-calling loop: what the gateway's hierarchy of planning and patterns is compared with.

python -m bench.flat evals/turn.yaml [--only TEXT] [--wording N] [--folder DIR] [--model M]

The same model through the same port, the same tools with the same descriptions, the same bound of calls, the same
judges. The model gets every tool's full schema in every step, and decides all by itself what comes next; the messages
grow. Nothing is planned, narrowed, undone or journaled; one thing is filled in, the passages that research found, since
the tool that makes skills promises its caller that quotes are added by themselves.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import click
from pydantic import ValidationError

from bench.flat_form import FILLED_IN, answer_schema, system_prompt
from echelon.cli import Invocation
from echelon.eval import options_of_a_suite, report_on
from echelon.evaluation.runner import Carried, Runner
from gateway import Settings
from gateway.engine.artifacts import ArtifactStore
from gateway.engine.ports import Json
from gateway.errors import ConfigError, ContextTooLong, EchelonError, ModelUnavailable, ToolError
from gateway.llm import tokens
from gateway.llm.decisions import decide
from gateway.llm.local.catalog import PREFIX, find
from gateway.llm.model import Message, ModelRequest, ModelResponse
from gateway.llm.providers import model_of
from gateway.tools.discovery import builtin_registry
from gateway.tools.registry import ToolContext, ToolResult

MAX_CALLS = 12  # as in the pattern `generic`
MAX_RESULT = 3_500  # characters of a result, as in the gateway's prompts
SHORTENED = 200  # characters of an old result where the context overflows
MAX_TOKENS = 700  # of an answer, as the largest of the gateway's executor
TIMEOUT_S = 240.0  # of a model call, likewise
RESULT = "Result of "


class Loop:
    """One session: its messages, and what it took."""

    def __init__(self, settings: Settings) -> None:
        self.carried = Carried()
        self._settings = settings
        self._model = str(settings.model_for("executor"))
        self._port = model_of(settings)
        self._tools = list(builtin_registry())
        self._artifacts = ArtifactStore(settings.home / "artifacts")
        self._messages = [Message(role="system", content=system_prompt(self._tools, MAX_CALLS))]
        self._window = find(self._model).n_ctx if self._model.startswith(PREFIX) else None
        self._passages: list[Json] = []  # that the last research found
        self._turn = self._asked = 0

    async def close(self) -> None:
        await self._port.close()

    async def turn(self, request: str) -> None:
        """From a request to a final answer, or to a bound."""
        self._turn, self._asked, self.carried.response = self._turn + 1, 0, ""
        self._messages.append(Message(role="user", content=request))
        try:
            self.carried.ended.append(await self._steps())
        except (ConfigError, ModelUnavailable):
            raise
        except EchelonError as error:
            self.carried.ended.append(f"error:{error.kind}")
        finally:
            self._keep("messages.json", [each.model_dump() for each in self._messages])

    async def _steps(self) -> str:
        """How it ended. After the last call there is one more answer: what was found should not be lost."""
        limit = time.monotonic() + self._settings.limits.max_time_s
        for made in range(MAX_CALLS + 1):
            if time.monotonic() > limit:
                return "budget:time_s"
            decision = await self._decide(last=made == MAX_CALLS)
            self._messages.append(Message(role="assistant", content=json.dumps(decision, ensure_ascii=False)))
            action = decision["action"]
            if "answer" in action:
                self.carried.response = action["answer"]
                return "budget:calls" if made == MAX_CALLS else "success"
            result = await self._call(action["tool"], action["args"])
            self._passages = result.data.get("passages") or self._passages
            self._keep(f"results/{made + 1:02d}-{action['tool']}.json", {**action, **result.model_dump()})
            self._messages.append(Message(role="user", content=_told(action["tool"], result)))
        raise AssertionError("the last answer calls no tool")

    async def _decide(self, *, last: bool) -> dict[str, Any]:
        schema = answer_schema([] if last else self._tools)
        while not self._fits():
            self._shorten()
        while True:
            request = ModelRequest(
                role="executor",
                model=self._model,
                messages=self._messages,
                schema_name="STEP",
                max_tokens=MAX_TOKENS,
                timeout_s=TIMEOUT_S,
                ordinal=self._asked + 1,
            )
            try:
                decision, _ = await decide(self._ask, request, schema=schema, name="flat")
            except ContextTooLong:
                self._shorten()
                continue
            self.carried.executor_decisions += 1
            return decision

    async def _ask(self, request: Json, name: str) -> Json:
        answer = await self._port.complete(request)
        usage = ModelResponse.model_validate(answer).usage
        self._asked += 1
        for key in ("prompt_tokens", "cached_tokens", "completion_tokens"):
            self.carried.usage[key] += getattr(usage, key)
        self.carried.usage["model_calls"] += 1
        return answer

    async def _call(self, name: str, args: dict[str, Any]) -> ToolResult:
        """What the tool gives; its errors are results, as in the gateway."""
        if name in FILLED_IN:
            args = {**args, FILLED_IN[name]: self._passages}
        tool = next(each for each in self._tools if each.name == name)  # the schema allows no other
        settings = self._settings
        context = ToolContext(
            settings.workspace,
            settings.home,
            self._artifacts,
            turn=self._turn,
            now=time.time(),
            settings=settings.public(),
        )
        try:
            return await asyncio.wait_for(tool.run(tool.args.model_validate(args), context), tool.deadline_s)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "arguments"
            return ToolResult(ok=False, text=f"Error: {name}: {place}: {first['msg']}")
        except ToolError as error:
            return ToolResult(ok=False, text=f"Error: {error}" + (f" ({error.hint})" if error.hint else ""))
        except TimeoutError:
            return ToolResult(ok=False, text=f"Error: {name} did not end within {tool.deadline_s:g} s")

    def _fits(self) -> bool:
        """Whether prompt and answer fit the model's window, where it is known; the server says so where it is not."""
        if self._window is None:
            return True
        return sum(tokens.count(each.content) + 8 for each in self._messages) + MAX_TOKENS <= self._window

    def _shorten(self) -> None:
        """Cut the oldest result that is long. Raises ContextTooLong where there is none left."""
        for at, each in enumerate(self._messages):
            if each.role == "user" and each.content.startswith(RESULT) and len(each.content) > SHORTENED + 50:
                content = f"{each.content[:SHORTENED]}\n[… shortened]"
                self._messages[at] = each.model_copy(update={"content": content})
                return
        raise ContextTooLong("the messages do not fit the model's context window")

    def _keep(self, name: str, data: Json) -> None:
        """Beside what a turn of the gateway leaves: the judges look there."""
        path = self._settings.home / f"turns/default/{self._turn:04d}/{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data, ensure_ascii=False, indent=1, default=str), "utf-8")


def _told(tool: str, result: ToolResult) -> str:
    text = result.text
    if len(text) > MAX_RESULT:
        text = f"{text[:MAX_RESULT]}\n[… {len(text) - MAX_RESULT} characters left out]"
    return f"{RESULT}{tool} ({'ok' if result.ok else 'failed'}):\n{text}"


async def carry(settings: Settings, turns: Sequence[str]) -> Carried:
    """The turns of a session: earlier ones stay in the messages, results and all."""
    loop = Loop(settings)
    try:
        for request in turns:
            await loop.turn(request)
    finally:
        await loop.close()
    return loop.carried


FLAT = Runner("flat", carry)


@click.command()
@options_of_a_suite
def flat(**given: Any) -> int:
    """Carry out the requests of SUITE with a flat tool-calling loop, judged as `echelon eval` judges them."""
    return report_on(FLAT, **given)


def main() -> int:
    """The exit code: as of `echelon eval`."""
    try:
        code = flat.main(prog_name="python -m bench.flat", standalone_mode=False, obj=Invocation())
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return 130
    except EchelonError as error:
        click.echo(f"error: {error}\n  {error.hint}".rstrip(), err=True)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
