"""MCP servers that are programs and go wrong: the turn goes on, the next call works, and nothing is left running."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest
from mcp_house import House, ended, kill, running, until, words

from gateway.engine.state import Status
from gateway.errors import UsageError


async def test_a_tool_is_called_and_the_server_ends_with_the_gateway(house: House) -> None:
    async with house.open(s=house.stranger()) as gateway:
        turn = await house.call(gateway, "mcp.s.say", text="hello")
        again = await house.call(gateway, "mcp.s.say", text="again")
        assert (turn.status, turn.response, again.response) == (Status.COMPLETE, "say: hello", "say: again")
        [pid] = house.pids()
        assert running(pid)
    assert not running(pid)


async def test_nothing_is_started_where_what_it_offers_is_known(house: House) -> None:
    async with house.open(s=house.stranger()) as gateway:
        await gateway.toolbox.all()
    async with house.open(s=house.stranger()) as gateway:
        registry, warnings = await gateway.toolbox.all()
        assert "mcp.s.say" in registry and not warnings
        assert house.count("starts") == 1
    async with house.open(s=house.stranger("banner")) as gateway:  # another configuration
        await gateway.toolbox.all()
        assert house.count("starts") == 2


async def test_a_server_that_does_not_want_to_end_is_ended_with_all_it_started(house: House) -> None:
    async with house.open(s=house.stranger("deaf")) as gateway:
        await gateway.toolbox.all()
        [pid] = house.pids()
    assert not running(pid)


async def test_a_server_that_was_killed_between_two_calls_is_started_again(house: House) -> None:
    async with house.open(s=house.stranger()) as gateway:
        for number in range(3):
            turn = await house.call(gateway, "mcp.s.spend", text=str(number))
            assert (turn.status, turn.response) == (Status.COMPLETE, f"spend: {number}")
            kill(house.pids()[-1])
            await ended(house.pids()[-1])
    assert (house.count("starts"), house.count("calls")) == (3, 3)


async def test_a_call_that_changes_something_is_in_doubt_where_the_server_died_in_its_middle(house: House) -> None:
    async with house.open(s=house.stranger()) as gateway:
        turn = await house.call(gateway, "mcp.s.die_spending", text="x")
        assert turn.status is Status.WAITING and turn.waiting is not None
        assert "It is not known whether this happened: tool.mcp.s.die_spending" in turn.waiting.question
        assert house.count("calls") == 1
        turn = await gateway.answer(turn.run_id, "yes")
        assert (turn.status, turn.response) == (Status.COMPLETE, "It was confirmed that this has been done.")
    assert house.count("calls") == 1


async def test_a_call_that_reads_is_made_again_once(house: House) -> None:
    async with house.open(s=house.stranger()) as gateway:
        turn = await house.call(gateway, "mcp.s.die_once", text="x")
        assert (turn.status, turn.response) == (Status.COMPLETE, "die_once: x")
        turn = await house.call(gateway, "mcp.s.die", text="x")
        assert "was lost in the middle of the call: ended with exit code 1; its last words: stranger begins" in words(
            turn
        )
    assert house.count("calls") == 4


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("refuse", "I would rather not"),
        ("hang", "did not answer within 0.3 s"),
        ("flood_news", "that nobody asked for"),
        ("flood_answers", "that nobody asked for"),
        ("flood_result", "a message of more than 16 MB"),
        ("nonsense", "its answer cannot be used"),
    ],
)
async def test_what_goes_wrong_in_a_call_is_its_result_and_the_next_call_works(
    house: House, tool: str, said: str
) -> None:
    deadline_s = 0.3 if tool == "hang" else 60
    async with house.open(s=house.stranger(deadline_s=deadline_s)) as gateway:
        turn = await house.call(gateway, f"mcp.s.{tool}", text="x")
        assert said in words(turn)
        if tool != "hang":
            turn = await house.call(gateway, "mcp.s.say", text="well")
            assert turn.response == "say: well"
    assert not any(map(running, house.pids()))


async def test_a_call_that_changes_something_and_is_not_answered_in_time_is_in_doubt(house: House) -> None:
    async with house.open(s=house.stranger(deadline_s=0.3)) as gateway:
        turn = await house.call(gateway, "mcp.s.hang_spending", text="x")
        assert turn.status is Status.WAITING


async def test_garbage_between_messages_is_passed_over(house: House) -> None:
    async with house.open(s=house.stranger("banner")) as gateway:
        turn = await house.call(gateway, "mcp.s.garbage", text="x")
        assert turn.response == "garbage: x"


async def test_the_standard_error_goes_to_a_file_of_bounded_size(house: House) -> None:
    async with house.open(s=house.stranger()) as gateway:
        turn = await house.call(gateway, "mcp.s.flood_errors", text="x")
        assert turn.response == "flood_errors: x"
    text = house.log().read_text()
    assert text.startswith("stranger begins\n") and text.endswith("the last complaint\n")
    assert "bytes left out" in text and len(text) < 1_200_000


async def test_a_server_sees_no_environment_but_its_own_and_its_secrets_reach_no_file(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-strangers")
    secret = "a-secret-of-the-stranger"
    async with house.open(s=house.stranger(env={"STRANGER_KEY": secret})) as gateway:
        turn = await house.call(gateway, "mcp.s.environment", text="x")
        names = json.loads(turn.response)
        assert "STRANGER_KEY" in names and "OPENAI_API_KEY" not in names
        assert (await house.call(gateway, "mcp.s.say", text=secret)).response == "say: [redacted]"
    assert "my key is [redacted]" in house.log().read_text()
    files = [path for path in house.home.rglob("*") if path.is_file()]
    assert [path for path in files if secret.encode() in path.read_bytes()] == []


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ({"command": "no-such-command"}, "there is no command no-such-command"),
        ({"command": sys.executable, "cwd": "/no/such/folder"}, "there is no folder /no/such/folder"),
        ({"command": "/"}, "/ cannot be started"),
    ],
)
async def test_a_command_that_cannot_be_started_is_named(house: House, server: dict[str, str], said: str) -> None:
    async with house.open(bad=server, s=house.stranger()) as gateway:
        registry, warnings = await gateway.toolbox.all()
        assert "mcp.s.say" in registry
        assert [said in each and "its tools are missing" in each for each in warnings] == [True]
        with pytest.raises(UsageError, match=r"there is no tool 'mcp.bad.x'"):
            await gateway.call_tool("mcp.bad.x", {})


async def test_a_server_that_ends_at_once_is_said_with_its_last_words_and_not_tried_without_end(house: House) -> None:
    async with house.open(s=house.stranger("exit")) as gateway:
        for _ in range(20):
            registry, [warning] = await gateway.toolbox.all()
            assert list(registry) == [] and "ended with exit code 3; its last words: no licence found" in warning
            assert f"{house.log()} has what it wrote" in warning
    assert house.count("starts") < 10


async def test_arguments_in_the_command_are_told_from_a_command_that_there_is_not(house: House) -> None:
    async with house.open(bad={"command": "no-such-command --zone UTC"}) as gateway:
        _, [warning] = await gateway.toolbox.all()
    assert "write its arguments in `args: [...]`" in warning


async def test_a_server_that_never_answers_stops_no_turn(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.tools.mcp.connection.START_S", 0.3)
    async with house.open(s=house.stranger("silent")) as gateway:
        registry, [warning] = await gateway.toolbox.all()
        assert list(registry) == [] and "did not answer within 0.3 s" in warning
    assert not any(map(running, house.pids()))


async def test_calls_run_side_by_side_and_a_cancelled_one_ends_alone(house: House) -> None:
    async with house.open(s=house.stranger()) as gateway:
        slow = asyncio.create_task(gateway.call_tool("mcp.s.hang", {"text": "x"}, session="slow"))

        async def has_begun() -> bool:
            return house.count("calls") > 0

        await until(has_begun)
        calls = (gateway.call_tool("mcp.s.say", {"text": str(each)}, session=f"s{each}") for each in range(10))
        turns = await asyncio.gather(*calls)
        assert [turn.response for turn in turns] == [f"say: {each}" for each in range(10)]
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        assert (await house.call(gateway, "mcp.s.say", text="on")).response == "say: on"
    assert house.count("starts") == 1


async def test_a_gateway_that_is_killed_leaves_no_server(house: House) -> None:
    code = f"""
import asyncio, sys
sys.path[:0] = {sys.path!r}
from mcp_house import House, Path
async def main():
    house = House.__new__(House)
    house.__dict__.update(home=Path({str(house.home)!r}), workspace=Path({str(house.workspace)!r}),
                          folder=Path({str(house.folder)!r}), heard=[])
    async with house.open(s=house.stranger()) as gateway:
        await gateway.toolbox.all()
        print("ready", flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    process.kill()
    await process.wait()
    await ended(house.pids()[0])


async def test_pictures_and_resources_become_artifacts(house: House) -> None:
    async with house.open(s=house.stranger()) as gateway:
        turn = await house.call(gateway, "mcp.s.picture", text="x")
        said, image, resource = turn.response.splitlines()
        assert said == "picture: x" and "image: image/png, 5 bytes, sha256" in image and "file:///a" in resource
        assert gateway.runs.artifacts.get(image.rpartition(" ")[2].rstrip("]")) == b"heron"
        result = json.loads(next((turn.context.parent / "results").iterdir()).read_text())
        assert result["data"] == {"found": 1}
