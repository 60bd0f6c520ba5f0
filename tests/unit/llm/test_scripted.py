"""The model that answers from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import ConfigError, ModelRefused, ModelTimeout
from gateway.llm.model import ModelRequest
from gateway.llm.scripted import ScriptedModel


def request(ordinal: int, *, role: str = "executor", last: str = "What next?") -> dict[str, Any]:
    messages = [{"role": "system", "content": "# Executor"}, {"role": "user", "content": last}]
    return ModelRequest(role=role, model="scripted:x", messages=messages, ordinal=ordinal).model_dump()  # type: ignore[arg-type]


async def texts(model: ScriptedModel, *requests: dict[str, Any]) -> list[str]:
    return [(await model.complete(each))["text"] for each in requests]


async def test_plain_entries_answer_by_the_number_of_the_call() -> None:
    model = ScriptedModel([{"answer": "one"}, {"answer": {"action": "DONE"}}])
    assert await texts(model, request(1), request(2)) == ["one", '{"action": "DONE"}']


async def test_a_resumed_process_gets_the_answer_of_the_call_that_it_resumes() -> None:
    script = [{"answer": "one"}, {"answer": "two"}, {"answer": "three"}]
    assert await texts(ScriptedModel(script), request(3), request(3)) == ["three", "three"]


async def test_repeat_covers_several_calls() -> None:
    model = ScriptedModel([{"answer": "a", "repeat": 2}, {"answer": "b"}])
    assert await texts(model, request(1), request(2), request(3)) == ["a", "a", "b"]


async def test_role_last_message_and_call_choose_an_entry_at_any_time() -> None:
    model = ScriptedModel(
        [
            {"role": "planner", "call": 4, "answer": "replanned"},
            {"role": "planner", "answer": "planned"},
            {"when": r"tests? failed", "answer": "edit"},
            {"answer": "the fourth call"},
        ]
    )
    asked = [
        request(1, role="planner"),
        request(4, role="planner"),
        request(9, last="1 test failed"),
        request(4),
    ]
    assert await texts(model, *asked) == ["planned", "replanned", "edit", "the fourth call"]


async def test_usage_is_counted_or_as_the_script_says() -> None:
    model = ScriptedModel([{"answer": "hello world"}, {"answer": "x", "usage": {"completion_tokens": 9}}])
    counted = (await model.complete(request(1)))["usage"]
    assert counted["completion_tokens"] == 2 and counted["prompt_tokens"] > 3
    assert (await model.complete(request(2)))["usage"]["completion_tokens"] == 9


async def test_an_entry_can_raise_and_be_slow() -> None:
    slept: list[float] = []

    class Clock:
        def now(self) -> float:
            return 0.0

        def monotonic(self) -> float:
            return 0.0

        async def sleep(self, seconds: float) -> None:
            slept.append(seconds)

    model = ScriptedModel([{"error": "ModelTimeout", "delay_s": 3}], clock=Clock())
    with pytest.raises(ModelTimeout):
        await model.complete(request(1))
    assert slept == [3.0]


async def test_a_call_that_the_script_has_no_answer_for_is_named() -> None:
    with pytest.raises(ModelRefused, match=r"no answer for call 2 \(role executor\)") as caught:
        await ScriptedModel([{"answer": "one"}]).complete(request(2, last="the question"))
    assert "the question" in caught.value.hint


async def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("- answer: {action: DONE}\n- answer: plain text\n")
    answers = await texts(ScriptedModel(path), request(1), request(2))
    assert json.loads(answers[0]) == {"action": "DONE"} and answers[1] == "plain text"


@pytest.mark.parametrize(
    "script",
    [
        "not a list",
        "- {answer: a, error: ModelTimeout}",
        "- {role: planner}",
        "- {answer: a, colour: red}",
        "- {error: NoSuchError}",
        "- {answer: a, when: '('}",
        "- {answer: a, role: planner, repeat: 2}",
        "- [",
    ],
)
def test_a_broken_script_is_a_configuration_error_that_names_it(tmp_path: Path, script: str) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(script)
    with pytest.raises(ConfigError, match=r"script\.yaml"):
        ScriptedModel(path)


def test_a_missing_script_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.yaml"):
        ScriptedModel(tmp_path / "missing.yaml")
