"""What servers offer: their lists are read with care, kept, renewed, and pinned by the runs that began with them."""

from __future__ import annotations

import json

import pytest
from mcp_house import House, until

from gateway.engine.ports import Effect
from gateway.engine.state import Status
from gateway.errors import UsageError


async def test_a_tool_that_cannot_be_offered_is_left_out_with_the_reason_and_the_others_stay(house: House) -> None:
    async with house.open(s=house.stranger("broken")) as gateway:
        registry, warnings = await gateway.toolbox.all()
    names = [name.removeprefix("mcp.s.") for name in registry.names()]
    assert {"say", "no_type", "twice", "dots_and_spaces"} < set(names)
    told = "\n".join(warnings)
    for name, why in {
        "no_schema": "is not declared as MCP has it: inputSchema",
        "bad_type": "has an invalid schema",
        "bad_properties": "is not declared as MCP has it: inputSchema.properties",
        "endless": "contains itself",
        "remote": "refers to another document",
        "huge": "characters",
        "twice": "is offered twice",
    }.items():
        assert [each for each in warnings if f": {name} " in each and why in each], f"{name} is not in {told}"
        assert name == "twice" or name not in names
    assert registry.get("mcp.s.twice").description == "the first"
    assert len([name for name in names if name.startswith("dots_and_spaces_")]) == 1
    assert max(map(len, names)) <= 64
    [odd] = [registry.get(f"mcp.s.{name}") for name in names if name.startswith("_")]
    assert not {"\n", "`", "§", "<|"} & set(odd.description) and "<|" not in odd.description
    assert len(odd.description) <= 600


async def test_effects_come_from_annotations_and_what_is_no_read_asks_first(house: House) -> None:
    async with house.open(s=house.stranger(), assume_yes=False) as gateway:
        registry, _ = await gateway.toolbox.all()
        told = {name: (registry.get(f"mcp.s.{name}").effect, registry.get(f"mcp.s.{name}").ask) for name in
                ("say", "set", "spend")}  # fmt: skip
        assert told == {"say": (Effect.READ, False), "set": (Effect.IDEMPOTENT, True), "spend": (Effect.ONCE, True)}
        turn = await house.call(gateway, "mcp.s.spend", text="ten")
        assert turn.status is Status.WAITING and turn.waiting is not None
        assert 'Run mcp.s.spend {"text": "ten"}' in turn.waiting.question
        assert house.count("calls") == 0
        turn = await gateway.answer(turn.run_id, "yes")
        assert (turn.status, turn.response) == (Status.COMPLETE, "spend: ten")


@pytest.mark.parametrize(
    ("args", "said"),
    [({}, "'text' is a required property"), ({"text": 5}, "text: 5 is not of type 'string'")],
)
async def test_arguments_are_checked_by_the_schema_before_anything_is_sent(
    house: House, args: dict[str, object], said: str
) -> None:
    async with house.open(s=house.stranger()) as gateway:
        with pytest.raises(UsageError, match=said):
            await gateway.call_tool("mcp.s.say", args)
    assert house.count("calls") == 0


async def test_a_list_that_changes_is_asked_for_again(house: House) -> None:
    async with house.open(s=house.stranger()) as gateway:
        await house.call(gateway, "mcp.s.change", text="x")

        async def is_new() -> bool:
            return (await gateway.toolbox.all())[0].names() == ("mcp.s.new",)

        await until(is_new)
    kept = json.loads((house.home / "mcp/s.json").read_text())
    assert [each["name"] for each in kept["declared"]["tools"]] == ["mcp.s.new"]


async def test_a_run_is_replayed_without_its_server(house: House) -> None:
    async with house.open(s=house.stranger()) as gateway:
        turn = await house.call(gateway, "mcp.s.say", text="hello")
    (house.home / "mcp/s.json").unlink()
    async with house.open() as gateway:  # not even configured any more
        replayed = await gateway.replay(turn.run_id)
    assert replayed.finished and replayed.differing == [] and house.count("starts") == 1


async def test_a_run_goes_on_with_the_tools_that_it_began_with(house: House) -> None:
    async with house.open(s=house.stranger(), assume_yes=False) as gateway:
        waits = await house.call(gateway, "mcp.s.spend", text="ten")
        asleep = await house.call(gateway, "mcp.s.spend", text="eleven")
    (house.home / "mcp/s.json").unlink()
    async with house.open(s=house.stranger(), assume_yes=False) as gateway:
        turn = await gateway.answer(waits.run_id, "yes")
        assert turn.response == "spend: ten"
    async with house.open(assume_yes=False) as gateway:
        turn = await gateway.answer(asleep.run_id, "yes")
        assert "the MCP server s is not in the configuration any more" in turn.response


async def test_a_damaged_cache_is_as_none(house: House) -> None:
    for text in ("", "{}", '{"config": 1, "declared": {}}', "\x00"):
        (house.home / "mcp").mkdir(parents=True, exist_ok=True)
        (house.home / "mcp/s.json").write_text(text)
        async with house.open(s=house.stranger()) as gateway:
            assert "mcp.s.say" in (await gateway.toolbox.all())[0]


async def test_a_server_that_cannot_be_used_is_told_and_the_turn_goes_on(house: House) -> None:
    decision = {"answer": {"decision": {"action": "COMPLETE", "reasoning": "r", "response": "Hello!"}}}
    async with house.open(decision, bad={"command": "no-such-command"}) as gateway:
        turn = await gateway.run("Say hello", on_event=house.heard.append)
    assert (turn.status, turn.response) == (Status.COMPLETE, "Hello!")
    assert "there is no command no-such-command: its tools are missing" in house.notices()


async def test_two_servers_whose_names_differ_only_in_odd_characters_are_told_apart(house: House) -> None:
    async with house.open(**{"a b": house.stranger(), "a_b": house.stranger()}) as gateway:
        names = {name.split(".")[1] for name in (await gateway.toolbox.all())[0].names()}
        assert len(names) == 2 and "a_b" in names
