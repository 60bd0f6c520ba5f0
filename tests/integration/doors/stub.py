"""A model's server that answers from a list, over HTTP as real ones do, and goes wrong on demand."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "hosted_vllm/stub"
Fault = Callable[["Exchange"], None]
Entry = str | dict[str, Any] | Fault


class Exchange(BaseHTTPRequestHandler):
    """One request, and the answer to it."""

    protocol_version = "HTTP/1.1"
    server: Stub

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.streams = bool(body.get("stream"))
        entry = self.server.next(body)
        if callable(entry):
            entry(self)
        else:
            self.say(entry if isinstance(entry, str) else json.dumps(entry))

    def say(self, text: str, *, finish_reason: str = "stop", keep: float = 1.0) -> None:
        """The answer as a completion, or as a stream of two chunks; of its bytes only the part `keep`."""
        if self.streams:
            half = len(text) // 2
            deltas: list[dict[str, Any]] = [{"delta": {"content": text[:half]}}, {"delta": {"content": text[half:]}}]
            deltas[1] |= {"finish_reason": finish_reason}
            events = [json.dumps({"choices": [each]}) for each in deltas] + ["[DONE]"]
            data, kind = "".join(f"data: {each}\n\n" for each in events).encode(), "text/event-stream"
        else:
            choice = {"message": {"content": text}, "finish_reason": finish_reason}
            data, kind = json.dumps({"choices": [choice]}).encode(), "application/json"
        self.send(200, data, kind, keep)

    def send(self, status: int, data: bytes, kind: str = "application/json", keep: float = 1.0) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: int(len(data) * keep)])
        if keep < 1:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Stub(ThreadingHTTPServer):
    """Listens on a port of its own; `answers` are used up in order, the last one over and over."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.asked: list[dict[str, Any]] = []
        self.answers: list[Entry] = []
        self.reached = threading.Event()
        self._lock = threading.Lock()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def next(self, body: dict[str, Any]) -> Entry:
        with self._lock:
            self.asked.append(body)
            entry = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.reached.set()
        return entry

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that went away

    def close(self) -> None:
        self.shutdown()
        self.server_close()


def refuses(status: int, message: str) -> Fault:
    """It answers with an error."""
    return lambda exchange: exchange.send(status, json.dumps({"error": {"message": message}}).encode())


def vanishes(text: str) -> Fault:
    """It is gone in the middle of its answer."""
    return lambda exchange: exchange.say(text, keep=0.5)


def floods(words: int, before: str = "", after: str = "") -> Fault:
    """It does not stop before so many words, whatever it was told."""
    return lambda exchange: exchange.say(before + "heron " * words + after, finish_reason="length")


def held(until: threading.Event, entry: dict[str, Any]) -> Fault:
    """It answers once it may."""

    def answer(exchange: Exchange) -> None:
        until.wait(20)
        exchange.say(json.dumps(entry))

    return answer


def decision(action: str, **more: Any) -> dict[str, Any]:
    return {"decision": {"action": action, "reasoning": "because", **more}}


def complete(response: str = "Hello!") -> dict[str, Any]:
    return decision("COMPLETE", response=response)


def clarify(question: str = "Which server?") -> dict[str, Any]:
    return decision("CLARIFY", question=question)


def plan(task_type: str = "generic") -> dict[str, Any]:
    return decision("EXECUTE", task_type=task_type, goals=["do it"])


def call(name: str, **args: Any) -> dict[str, Any]:
    return decision("CALL_TOOL", tool={"name": name, "args": args})


def done() -> dict[str, Any]:
    return decision("DONE")
