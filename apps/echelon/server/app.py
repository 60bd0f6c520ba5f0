"""The HTTP side: routes, errors, and how an answer is sent, in one piece or as a stream."""

from __future__ import annotations

import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from aiohttp import web

from echelon.server import background
from echelon.server.account import CONTENT, REASONING, Account
from echelon.server.messages import MODEL, ChatRequest, parse
from echelon.server.problem import NO_RETRY, Problem, problem_of
from echelon.server.reply import Reply, place_headers
from echelon.server.talks import Talks
from echelon.server.users import Users
from echelon.server.wire import DONE, KEEP_ALIVE, Completion, event, model_object
from echelon.server.work import Work
from gateway.errors import EchelonError
from gateway.stream import SessionBusy, TurnStarted

LARGEST = 4 << 20  # bytes of a body
BEAT_S = 15.0
GONE = 499  # nginx's number for a client that went away
NOTE = web.RequestKey("note", str)

Say = Callable[[str], None]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Api:
    """The routes of one server; `say` is told a line for each request."""

    def __init__(self, users: Users, say: Say) -> None:
        self.ending = False  # then nothing new is begun
        self._users = users
        self._say = say
        self._created = int(time.time())

    def app(self) -> web.Application:
        app = web.Application(client_max_size=LARGEST, middlewares=[self._outermost])
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/v1/models/{name:.+}", self._model)
        app.router.add_get("/healthz", self._health)
        return app

    @web.middleware
    async def _outermost(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Every error in OpenAI's form, and a line for every request: never a token or a body."""
        began, status = time.monotonic(), "gone"
        try:
            response = await self._answered(request, handler)
            status = str(response.status)
            return response
        finally:
            note = f" {request[NOTE]}" if NOTE in request else ""
            self._say(f"{request.method} {request.rel_url.raw_path}{note} {status} {time.monotonic() - began:.1f} s")

    async def _answered(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except ConnectionError:  # the client went away while it was written to
            return web.Response(status=GONE)
        except web.HTTPException as error:
            if error.status < 400:
                raise
            message = {
                404: f"there is no {request.path} here",
                405: f"{request.method} is not for {request.path}",
                413: f"the body is larger than {LARGEST >> 20} MB",
            }.get(error.status, error.reason)
            return _refused(Problem(error.status, message))
        except Exception as error:
            return _refused(self._problem(error))

    def _problem(self, error: Exception) -> Problem:
        """What the client is told; of a defect the log has the place, and not the message, which may quote a body."""
        if isinstance(error, Problem):
            return error
        if isinstance(error, EchelonError):
            return problem_of(error)
        place = traceback.extract_tb(error.__traceback__)[-1]
        self._say(f"defect: {type(error).__name__} at {place.filename}:{place.lineno}")
        return Problem(500, "this is a defect of Echelon; its log says where", headers=NO_RETRY)

    # routes

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"status": "ending" if self.ending else "ok"})

    async def _models(self, request: web.Request) -> web.Response:
        talks = self._users.of(request.headers)
        names = [MODEL, *(f"{MODEL}/{name}" for name in _types(talks))]
        return web.json_response({"object": "list", "data": [model_object(name, self._created) for name in names]})

    async def _model(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        _task_type(self._users.of(request.headers), name)
        return web.json_response(model_object(name, self._created))

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        talks = self._users.of(request.headers)
        asked = parse(await request.read(), request.headers)
        completion = Completion(asked.model)
        task_type = _task_type(talks, asked.model)
        by_code = background.answer(asked)
        if by_code is not None:
            request[NOTE] = "by code"
            return await _by_code(request, asked, completion, by_code)
        if self.ending:
            raise Problem(503, "the server is ending", code="interrupted")
        work = await talks.begin(asked, task_type)
        account = Account(live=asked.stream and not talks.gateway.settings.validation)
        with work.followed():
            if asked.stream:
                return await _Stream(request, completion, asked, account, self._problem).send(work, talks)
            return await _whole(request, completion, account, work)


async def _whole(request: web.Request, completion: Completion, account: Account, work: Work) -> web.Response:
    reasoning = []
    async for told in work.events(BEAT_S):
        if isinstance(told, TurnStarted):
            request[NOTE] = f"{told.session}/{told.number}"
        if told is not None:
            reasoning += [text for kind, text in account.of(told) if kind == REASONING]
    reply = await work.reply()
    request[NOTE] = f"{reply.session}/{reply.turn}"
    if reply.error:
        raise reply.problem()
    return web.json_response(completion.whole(reply.content, "".join(reasoning), reply), headers=reply.headers())


class _Stream:
    """One answer as server-sent events. It begins with the first news, so that what cannot begin has a status."""

    def __init__(
        self,
        request: web.Request,
        completion: Completion,
        asked: ChatRequest,
        account: Account,
        explain: Callable[[Exception], Problem],
    ) -> None:
        self._explain = explain
        self._request = request
        self._completion = completion
        self._asked = asked
        self._account = account
        self._response: web.StreamResponse | None = None

    async def send(self, work: Work, talks: Talks) -> web.StreamResponse:
        async for told in work.events(BEAT_S):
            if told is None:
                await (await self._open({})).write(KEEP_ALIVE)
            elif isinstance(told, TurnStarted | SessionBusy):
                await self._place(told)
            for kind, text in self._account.of(told) if told is not None else ():
                await self._write(self._completion.chunk({kind: text}))
        try:
            reply = await work.reply()
            self._request[NOTE] = f"{reply.session}/{reply.turn}"
            if reply.error:
                raise reply.problem()
        except Exception as error:
            return await self._failed(error)
        return await self._end(reply, talks)

    async def _place(self, told: TurnStarted | SessionBusy) -> None:
        if isinstance(told, SessionBusy):
            await self._open(place_headers(told.session))
            return
        self._request[NOTE] = f"{told.session}/{told.number}"
        await self._open(place_headers(told.session, told.number, told.run_id))

    async def _end(self, reply: Reply, talks: Talks) -> web.StreamResponse:
        response = await self._open(reply.headers())
        rest = self._account.rest(reply.content)
        if rest:
            await self._write(self._completion.chunk({CONTENT: rest}))
        if self._account.shown + rest != reply.content:
            talks.continues(self._asked, reply, self._account.shown + rest)
        await self._write(self._completion.chunk({}, reply.finish_reason, reply))
        if self._asked.include_usage:
            await self._write(self._completion.spent(reply))
        await response.write(DONE)
        return response

    async def _failed(self, error: Exception) -> web.StreamResponse:
        if self._response is None:
            raise error
        await self._write(self._explain(error).body())
        await self._response.write(DONE)
        return self._response

    async def _write(self, data: dict[str, Any]) -> None:
        if self._asked.include_usage and "choices" in data:
            data.setdefault("usage", None)
        await (await self._open({})).write(event(data))

    async def _open(self, headers: dict[str, str]) -> web.StreamResponse:
        """The response, begun. Headers that come later come too late."""
        if self._response is None:
            fixed = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
            unbuffered = {"X-Accel-Buffering": "no"}  # nginx would wait for more
            self._response = web.StreamResponse(headers={**fixed, **unbuffered, **headers})
            await self._response.prepare(self._request)
            await self._write(self._completion.chunk({"role": "assistant"}))
        return self._response


async def _by_code(
    request: web.Request, asked: ChatRequest, completion: Completion, content: str
) -> web.StreamResponse:
    if not asked.stream:
        return web.json_response(completion.whole(content))
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    chunks = [completion.chunk({"role": "assistant", CONTENT: content}), completion.chunk({}, "stop")]
    for chunk in [*chunks, *([completion.spent(None)] if asked.include_usage else [])]:
        await response.write(event(chunk))
    await response.write(DONE)
    return response


def _refused(problem: Problem) -> web.Response:
    return web.json_response(problem.body(), status=problem.status, headers=problem.headers)


def _types(talks: Talks) -> Iterator[str]:
    yield from sorted(program.task_type for program in talks.gateway.patterns().available())


def _task_type(talks: Talks, model: str) -> str | None:
    """The task type that a model's name fixes. Raises Problem (404) for a model that there is not."""
    name, _, task_type = model.partition("/")
    if model != MODEL and (name != MODEL or task_type not in _types(talks)):
        raise Problem(404, f"there is no model {model!r}; /v1/models lists them", code="model_not_found", param="model")
    return task_type or None
