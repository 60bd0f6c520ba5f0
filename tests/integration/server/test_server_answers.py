"""What a client gets for a request: an answer in one piece, a stream, an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from service import answer, call, complete, decision, done, plan, served, spending


async def test_an_answer_in_one_piece(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 100, "cached_tokens": 60, "completion_tokens": 7, "cost_usd": 0.0}
    async with served(tmp_path, complete("Hello there!", usage=usage)) as service:
        got = await service.ask("Hi")
    choice = got.body["choices"][0]
    assert (got.status, choice["message"]["content"], choice["finish_reason"]) == (200, "Hello there!", "stop")
    assert "Plan: COMPLETE" in choice["message"]["reasoning_content"]
    assert got.body["object"] == "chat.completion" and got.body["model"] == "echelon"
    assert got.body["usage"] == {
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "total_tokens": 107,
        "prompt_tokens_details": {"cached_tokens": 60},
    }
    session, turn = got.place
    run = got.headers["X-Echelon-Run"]
    assert got.body["echelon"] == {"session": session, "turn": int(turn), "run": run, "status": "complete"}
    assert service.said[0].startswith(f"POST /v1/chat/completions {session}/1 200 ")


async def test_a_stream_tells_progress_then_the_response_then_what_it_took(tmp_path: Path) -> None:
    script = [plan("say hi"), call("test.say", what="hi"), done(), answer("I said hi to you.")]
    async with served(tmp_path, *script, validate=True) as service:
        service.model.script = [*script, {"answer": {"verdict": "APPROVE", "issues": []}}]
        got = await service.ask("Say hi", stream=True, stream_options={"include_usage": True})
    kinds = [kind for delta in got.deltas for kind in delta]
    assert kinds[0] == "role" and kinds[-1] == "content" and kinds.index("content") > kinds.index("reasoning_content")
    assert set(kinds) == {"role", "reasoning_content", "content"}
    reasoning = "".join(delta.get("reasoning_content", "") for delta in got.deltas)
    assert "Execute: ✓ test.say" in reasoning and "Validate: APPROVE" in reasoning
    assert got.content == "I said hi to you." and kinds.count("content") == 1
    assert got.chunks[-2]["choices"][0]["finish_reason"] == "stop" and got.chunks[-2]["echelon"]["turn"] == 1
    assert got.chunks[-1]["choices"] == [] and got.chunks[-1]["usage"]["total_tokens"] > 0
    assert all(chunk["usage"] is None for chunk in got.chunks[:-1])
    assert got.done and len({chunk["id"] for chunk in got.chunks}) == 1


async def test_without_validation_the_response_is_streamed_while_it_is_written(tmp_path: Path) -> None:
    async with served(tmp_path, *spending(), tools={"approve": []}) as service:
        asked = await service.ask("Spend", stream=True)
        got = await service.ask("Spend", ("assistant", asked.content), "yes", stream=True)
    pieces = [delta["content"] for delta in got.deltas if "content" in delta]
    assert pieces[:3] == ["I", " have", " spent"]
    assert pieces[-1] == "\n\n- 1 coin is spent"  # what code adds
    assert got.content == "I have spent a coin.\n\n- 1 coin is spent"


async def test_a_model_s_name_can_fix_the_task_type(tmp_path: Path) -> None:
    async with served(tmp_path, call("test.say"), done(), answer()) as service:
        got = await service.ask("Say hi", model="echelon/generic")
        assert got.content == "It is done."
        models = (await service.send("GET", "/models")).body["data"]
        assert [models[0]["id"], models[0]["object"]] == ["echelon", "model"]
        assert "echelon/generic" in [model["id"] for model in models]
        assert (await service.send("GET", "/models/echelon/generic")).body["id"] == "echelon/generic"
        for refused in (await service.ask("Hi", model="gpt-5"), await service.send("GET", "/models/echelon/nope")):
            assert (refused.status, refused.body["error"]["code"]) == (404, "model_not_found")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[]", "JSON object"),
        (b"{}", "at least one message"),
        (b'{"messages": [{"role": "assistant", "content": "x"}]}', "from the user"),
        (b'{"messages": [{"role": "user", "content": "  "}]}', "empty"),
        (b'{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}', "images are not supported"),
        (b'{"messages": [{"role": "user", "content": "\\ud800"}]}', "not valid text"),
        (b'{"messages": [{"role": "user", "content": "x"}], "n": 2}', "one answer"),
        (b'{"messages": [{"role": "user", "content": "x"}], "metadata": {"session_id": "../x"}}', "session's name"),
    ],
)
async def test_a_request_that_is_none(tmp_path: Path, body: bytes, says: str) -> None:
    async with served(tmp_path) as service:
        got = await service.send("POST", "/chat/completions", data=body)
        assert service.turns() == []
    error = got.body["error"]
    assert (got.status, error["type"]) == (400, "invalid_request_error") and says in error["message"]


async def test_other_errors_have_the_same_form(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        large = await service.send("POST", "/chat/completions", data=b"x" * (5 << 20))
        nowhere = await service.send("GET", "/nowhere")
        wrong = await service.send("GET", "/chat/completions")
        health = await service.send("GET", "/../healthz")
    assert (large.status, large.body["error"]["message"]) == (413, "the body is larger than 4 MB")
    assert (nowhere.status, wrong.status) == (404, 405)
    assert set(nowhere.body["error"]) == {"message", "type", "param", "code"}
    assert (health.status, health.body) == (200, {"status": "ok"})


@pytest.mark.parametrize(("error", "status"), [("ModelUnavailable", 503), ("ModelRefused", 500)])
async def test_a_turn_that_failed_is_an_error(tmp_path: Path, error: str, status: int) -> None:
    async with served(tmp_path, {"error": error, "repeat": 9}) as service:
        whole = await service.ask("Hi")
        streamed = await service.ask("Hi there", stream=True)
    code = f"error:{'model_unavailable' if status == 503 else 'model_refused'}"
    assert (whole.status, whole.body["error"]["code"], whole.headers["x-should-retry"]) == (status, code, "false")
    assert whole.headers["X-Echelon-Run"]
    assert streamed.chunks[-1]["error"]["code"] == code and streamed.done


async def test_a_task_that_was_given_up_has_a_response(tmp_path: Path) -> None:
    script = [plan("refuse"), call("test.refuse"), decision("ESCALATE"), complete("It was refused today.")]
    async with served(tmp_path, *script) as service:
        got = await service.ask("Do it")
    assert (got.status, got.content, got.body["echelon"]["status"]) == (200, "It was refused today.", "failed")


async def test_a_budget_stops_a_turn_with_what_it_has(tmp_path: Path) -> None:
    async with served(tmp_path, plan(), call("test.say"), done(), answer(), limits={"max_steps": 1}) as service:
        got = await service.ask("Say x")
    assert got.body["choices"][0]["finish_reason"] == "length" and "budget for steps" in got.content
    assert got.body["echelon"]["status"] == "stopped"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_defect_is_an_error_too(tmp_path: Path, stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path, complete()) as service:
        monkeypatch.setattr("echelon.server.talks.Reply.of", lambda *given: {}["the body"])
        got = await service.ask("Hi", stream=stream)
    error = (got.chunks[-1] if stream else got.body)["error"]
    assert error["type"] == "server_error" and "defect" in error["message"]
    assert service.said[0].startswith("defect: KeyError at ") and "the body" not in service.said[0]
