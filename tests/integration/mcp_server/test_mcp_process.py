"""`echelon mcp` as a process: garbage, clients that vanish, signals, and death."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest
from served_tools import Served, gone, hello, message

GARBAGE = (
    b"\n",
    b"hello\n",
    b'{"jsonrpc": "2.0", "id": 1, "method"\n',
    b"[1, 2, 3]\n",
    b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]\n',
    b"\x00\xff\xfe\x80\n",
    b"[" * 100_000 + b"\n",
    b'"' + b"x" * 1_000_000 + b'"\n',
    b'{"jsonrpc": "2.0", "id": 99, "result": {}}\n',
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}\n',
)


def sent(process: subprocess.Popen[bytes], *lines: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(lines))
    process.stdin.flush()


def reply(process: subprocess.Popen[bytes], id: int) -> dict[str, object]:
    """The answer to a request; every line before it is of the protocol, too."""
    assert process.stdout is not None
    for line in process.stdout:
        said = json.loads(line)
        assert said["jsonrpc"] == "2.0"
        if said.get("id") == id:
            found: dict[str, object] = said
            return found
    raise AssertionError("it ended without an answer")


def test_garbage_is_passed_over_and_nothing_but_protocol_is_written(served: Served) -> None:
    process = served.start("-v")
    sent(process, *GARBAGE, hello(), *GARBAGE)
    assert reply(process, 0)["result"]["serverInfo"]["name"] == "echelon"
    sent(process, message("tools/call", 1, name="file_list", arguments={}), *GARBAGE)
    assert reply(process, 1)["result"]["isError"] is False
    sent(process, message("no/such", 2), message("tools/call", 3, name=4))
    assert reply(process, 2)["error"]["code"] == -32601
    assert reply(process, 3)["error"]["code"] == -32602
    rest, told = process.communicate(timeout=60)  # which closes its standard input: the client leaves
    assert process.returncode == 0 and rest == b""
    assert b"file.list mcp/1 ok" in told and b"Traceback" not in told


@pytest.mark.parametrize(
    ("how", "code"), [("leave", 0), (signal.SIGTERM, 0), (signal.SIGINT, 130)], ids=["leave", "term", "ctrl-c"]
)
async def test_a_call_under_way_is_left_to_be_resumed(served: Served, how: object, code: int) -> None:
    slow = served.slow()
    process = served.start()
    sent(process, hello(), message("tools/call", 1, name="test_run", arguments={}))
    pid = await slow.began()
    if how == "leave":
        _, told = process.communicate(timeout=60)
    else:
        process.send_signal(int(str(int(how))))  # type: ignore[call-overload]
        said = reply(process, 1)
        assert "the server ends" in json.dumps(said)
        assert process.wait(timeout=60) == code
        told = process.stderr.read() if process.stderr is not None else b""
    assert process.returncode == code and b"Traceback" not in told
    assert gone(pid)
    assert [turn[:2] for turn in served.turns()] == [("mcp", "stopped")]


async def test_after_its_death_the_same_call_can_be_made_again(served: Served) -> None:
    slow = served.slow()
    process = served.start()
    sent(process, hello(), message("tools/call", 1, name="test_run", arguments={}))
    await slow.began()
    process.kill()
    process.wait(timeout=60)
    slow.let_go()
    again = served.start()
    sent(again, hello(), message("tools/call", 1, name="test_run", arguments={}))
    assert reply(again, 1)["result"]["isError"] is False
    assert [turn[1] for turn in served.turns()] == ["interrupted", "complete"]


def test_a_server_of_all_files_or_of_no_tools_is_not_started(served: Served) -> None:
    refused = {
        b"all files of this machine": ("--workspace", "/"),
        b"no tool is left to serve": ("--only", "nothing.*"),
        b"is not a session's name": ("--session", "../x"),
        b"without a token it listens on this machine only": ("--http", "--host", "0.0.0.0"),
    }
    started = {said: served.start(*options) for said, options in refused.items()}
    for said, process in started.items():
        out, told = process.communicate(timeout=60)
        assert (process.returncode, out) == (2, b"") and said in told, told


def test_a_configuration_for_no_tools_is_printed_with_a_warning(served: Served) -> None:
    printed, said = served.start("--only", "nope.*", "--print-config").communicate(timeout=60)
    assert b"mcpServers" in printed and b"warning: no tool is left to serve" in said


def test_what_a_client_has_to_be_configured_with_starts_it(served: Served, tmp_path: Path) -> None:
    printed, _ = served.start("--only", "file.*", "--print-config").communicate(timeout=60)
    server = json.loads(printed)["mcpServers"]["echelon"]
    assert server["env"] == {"ECHELON_HOME": str(served.home)}
    assert server["args"][-5:] == ["mcp", "--workspace", str(served.workspace), "--only", "file.*"]
    environment = served.environment | server["env"] | {"PATH": "/usr/bin:/bin"}
    command = [server["command"], *server["args"]]
    started = subprocess.run(command, cwd=tmp_path, env=environment, input=hello(), capture_output=True, timeout=60)
    assert started.returncode == 0 and b'"protocolVersion":"2025-11-25"' in started.stdout
    printed, _ = served.start("--http", "--print-config").communicate(timeout=60)
    assert json.loads(printed)["mcpServers"]["echelon"] == {"type": "http", "url": "http://127.0.0.1:8701/mcp"}
