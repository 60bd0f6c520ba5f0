"""A chat completion server without delay, in a process of its own: it answers from the script of the job.

`python -m bench.stub` prints its port. `GET /requests` gives the bodies of the last four requests, for the contestant
that repeats them.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.job import ANSWER, CALLS, GOALS

MODEL_CALLS = 4


@contextmanager
def stub_server() -> Iterator[str]:
    """The server's base URL, while it runs."""
    process = subprocess.Popen([sys.executable, "-m", "bench.stub"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.terminate()
        process.wait()


def message(asked: dict[str, Any]) -> dict[str, Any]:
    """The answer: a function call where functions are offered, a decision where one is asked for, else text."""
    if "tools" in asked:
        made = sum(each["role"] == "tool" for each in asked["messages"])
        return _function_call(made) if made < len(CALLS) else {"role": "assistant", "content": ANSWER}
    asked_for = asked.get("response_format", {}).get("json_schema")
    if asked_for is None:
        return {"role": "assistant", "content": ANSWER}
    why = {"reasoning": "it is next"}
    if asked_for["name"] == "PLANNER_DECISION":
        decision = {"action": "EXECUTE", "task_type": "note_page", "goals": GOALS, **why}
        return {"role": "assistant", "content": json.dumps({"decision": decision})}
    open_arguments = set(asked_for["schema"]["properties"]) - set(why)
    args = next(args for args in CALLS.values() if set(args) == open_arguments)
    return {"role": "assistant", "content": json.dumps({**why, **args})}


def _function_call(number: int) -> dict[str, Any]:
    name, args = list(CALLS.items())[number]
    call = {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


async def serve() -> None:
    from aiohttp import web

    last: deque[dict[str, Any]] = deque(maxlen=MODEL_CALLS)

    async def complete(request: web.Request) -> web.Response:
        asked = await request.json()
        last.append(asked)
        said = message(asked)
        choice = {"index": 0, "finish_reason": "tool_calls" if "tool_calls" in said else "stop", "message": said}
        usage = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
        head = {"id": "1", "object": "chat.completion", "created": 1, "model": "stub"}
        return web.json_response({**head, "choices": [choice], "usage": usage})

    async def requests(request: web.Request) -> web.Response:
        return web.json_response(list(last))

    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    app.router.add_get("/v1/requests", requests)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve())
