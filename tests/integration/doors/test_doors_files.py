"""A person's own patterns, prompts, recipes and configuration, whole and broken, through each door."""

from __future__ import annotations

import pytest

from .door import REFUSED, Door
from .house import House
from .stub import Stub, call, complete, done, plan

OWN = "---\ntask_type: generic\ndescription: what this person wants done\n---\n1. CALL file.list\n2. DONE\n"
PATTERN = "prompts/patterns/generic.md"
PLANNER = "prompts/planner/planner.md"


def types(asked: dict[str, object]) -> str:
    """What the Planner may choose from, as the server got it."""
    return str(asked["response_format"])


def test_an_own_pattern_stands_before_the_shipped_one(door: Door, house: House, model: Stub) -> None:
    house.own(PATTERN, OWN)
    model.answers = [plan(), "There is nothing here."]
    ended = door.ask("Which files are here?")
    assert (ended.status, ended.response) == ("complete", "There is nothing here.")
    assert "what this person wants done" in str(model.asked[0]["messages"])
    assert len(model.asked) == 2  # its one call has no open argument: no model chooses it


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (OWN.replace("2. DONE", "2. GO TO step 9"), 6, "step 9"),
        (OWN.replace("CALL file.list", "CALL file.list with {glob: {{ last. }}}"), 5, "last."),
        (OWN.replace("2. DONE", "2. CHECK {{ 1 + }}: is it?\n   - YES → DONE\n   - NO → DONE"), 6, "1 +"),
    ],
    ids=["jump", "argument", "condition"],
)
def test_a_broken_pattern_costs_its_type_and_nothing_else(
    door: Door, house: House, model: Stub, text: str, line: int, problem: str
) -> None:
    path = house.own(PATTERN, text)
    model.answers = [complete()]
    ended = door.ask()
    assert (ended.status, ended.response) == ("complete", "Hello!")
    assert "memory_op" in types(model.asked[0]) and "generic" not in types(model.asked[0])
    checked = house.cli("patterns", "check", "--workspace", str(house.workspace))
    assert checked.returncode == 2 and "Traceback" not in checked.stderr
    said = [each for each in checked.stdout.splitlines() if each.startswith(f"{path}:{line}:")]
    assert said and problem in said[0], checked.stdout
    path.unlink()
    door.ask()
    assert "generic" in types(model.asked[1])


@pytest.mark.parametrize("braces", ["{{ nonsense }}", "{% if %}", "{{ task_types", "{{ a | b(1) }} {# x #}"])
def test_braces_in_a_prompt_are_text(door: Door, house: House, model: Stub, braces: str) -> None:
    house.own(PLANNER, f"You plan. {braces} {{{{ task_types }}}}")
    model.answers = [complete()]
    assert door.ask().status == "complete"
    asked = str(model.asked[0]["messages"])
    assert braces in asked and "memory_op" in asked


@pytest.mark.parametrize(
    ("path", "text", "says"),
    [
        ("recipes/planner.yaml", "- a list", "the file: "),
        ("recipes/planner.yaml", "name: planner\nrole: planner\n", "planner.yaml: "),
        ("recipes/responder.yaml", "\x00", "not YAML"),
    ],
    ids=["no mapping", "keys are missing", "no text"],
)
def test_a_broken_recipe_is_named_before_anything_begins(
    door: Door, house: House, model: Stub, path: str, text: str, says: str
) -> None:
    model.answers = [complete()]
    assert door.ask().turn == 1
    file = house.own(path, text)
    ended = door.ask("And now?")
    assert (ended.status, ended.code) == (REFUSED, door.code(2, 500))
    assert str(file) in ended.said and says in ended.said and len(ended.said) < 500
    file.unlink()
    assert door.ask("And now?").turn == 2


def test_a_prompt_that_is_no_text_is_named(door: Door, house: House, model: Stub) -> None:
    file = house.own(PLANNER, "")
    file.write_bytes(b"\xff\xfe\x00")
    model.answers = [complete()]
    ended = door.ask()
    assert (ended.status, ended.code) == (REFUSED, door.code(2, 500)) and str(file) in ended.said
    file.unlink()
    assert door.ask().turn == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("model: [", ":1: not valid YAML"),
        ("modle: x", "modle is not a setting; did you mean model?"),
        ("limits: {max_steps: many}", "limits.max_steps: expected"),
        ("- a list", "expected keys and values"),
    ],
)
def test_a_broken_configuration_is_named(door: Door, house: House, model: Stub, text: str, says: str) -> None:
    model.answers = [complete()]
    assert door.ask().turn == 1
    door.reopen()
    house.config.write_text(text)
    ended = door.ask("And now?")
    assert (ended.status, ended.code) == (REFUSED, 2)
    assert str(house.config) in ended.said and says in ended.said
    house.configure()
    assert door.ask("And now?").turn == 2


def test_what_a_turn_needs_is_used_as_it_was_when_it_began(door: Door, house: House, model: Stub) -> None:
    house.own(PATTERN, OWN.replace("2. DONE", "2. CALL any of {*} — until DONE"))
    model.answers = [plan(), "garbage"]
    ended = door.ask("Which files are here?")
    assert ended.reason == "error:decision_invalid"
    house.own(PATTERN, "broken since")
    model.answers = [call("file.list"), done(), "Nothing."]
    resumed = door.resume("Which files are here?", ended)
    assert (resumed.status, resumed.response) == ("complete", "Nothing.")
