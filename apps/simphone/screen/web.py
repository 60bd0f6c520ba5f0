"""The phone's own web server, on loopback: the system's page, the pages of apps, their state, their calls, and the
channel by which tests look in.

| path | what |
|---|---|
| `/system/…`, `/common/…`, `/app/<package>/…` | pages |
| `GET PUT /store/<package>`, `POST /log/<package>`, `POST /call/<package>/<token>/<method>` | for pages |
| `GET PUT /test/apps/<package>`, `GET /test/log/<package>`, `GET /test/state`, `GET /test/reward`, `GET POST DELETE /test/faults`, `POST /test/reset` | for tests, never through adb |
"""  # noqa: E501

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from simphone.faults import Fault, Faults
from simphone.screen.store import AppStore

if TYPE_CHECKING:
    from aiohttp import web
    from aiohttp.typedefs import Handler, Middleware

    from simphone.screen.display import Display

OnCall = Callable[[str, str, str, dict[str, Any]], Awaitable[Any]]  # package, token, method, arguments -> JSON
_OWN = {"system": Path(__file__).parent / "pages", "common": Path(__file__).parents[1] / "pages" / "common"}
_LARGEST_BODY = 16 << 20
_log = logging.getLogger(__name__)


class Control(Protocol):
    """What the test channel asks of the phone."""

    @property
    def faults(self) -> Faults: ...

    @property
    def display(self) -> Display: ...

    async def state(self) -> dict[str, Any]:
        """Foreground, stack, settings, clipboard, …, with what `Display.state()` says."""
        ...

    async def reset(self) -> None:
        """The state of a new phone: every app as installed, the home screen, no faults."""
        ...


class CallRefused(Exception):
    """A page's call that the system does not carry out; the page's promise is rejected with this message."""


async def _nobody(package: str, token: str, method: str, args: dict[str, Any]) -> Any:
    raise CallRefused(f"nothing answers {method}")


class Web:
    """`url` is http://127.0.0.1:PORT, `folders` says where the pages of a package lie, `on_call` takes what pages ask
    of the system, and there is no test channel until `control` is set."""

    def __init__(self, store: AppStore) -> None:
        self.store = store
        self.folders: dict[str, Path] = {}
        self.on_call: OnCall = _nobody
        self.control: Control | None = None
        self.url = ""
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        from aiohttp import web

        app = web.Application(client_max_size=_LARGEST_BODY, middlewares=[self._own_callers_only()])
        app.add_routes(
            [
                web.get("/{place:system|common}/{path:.+}", self._own_page),
                web.get("/app/{package}/{path:.+}", self._app_page),
                web.get("/store/{package}", self._load),
                web.put("/store/{package}", self._save),
                web.post("/log/{package}", self._append),
                web.post("/call/{package}/{token}/{method}", self._call),
                web.get("/test/apps/{package}", self._load),
                web.put("/test/apps/{package}", self._set_state),
                web.get("/test/log/{package}", self._read_log),
                web.get("/test/state", self._test_state),
                web.get("/test/reward", self._test_reward),
                web.get("/test/faults", self._faults),
                web.post("/test/faults", self._add_fault),
                web.delete("/test/faults", self._clear_faults),
                web.post("/test/reset", self._reset),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        await web.SockSite(self._runner, listening).start()

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def _own_callers_only(self) -> Middleware:
        """Pages of other sites in somebody's browser reach loopback too: by a name of theirs, across origins, or with
        the phone's pages as frames, for touches that are meant for something else."""
        from aiohttp import web

        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            own = self.url, self.url.replace("127.0.0.1", "localhost")
            if f"http://{request.host}" not in own:
                raise web.HTTPForbidden(text="this server answers only under its own address")
            if request.headers.get("Origin", self.url) != self.url:
                raise web.HTTPForbidden(text="this server answers only its own pages")
            try:
                answer = await handler(request)
                answer.headers["Content-Security-Policy"] = f"frame-ancestors {' '.join(own)}"
                return answer
            except ValueError as problem:  # a body that is not JSON, a name that is no package
                raise web.HTTPBadRequest(text=str(problem)) from problem

        return check

    # pages

    async def _own_page(self, request: web.Request) -> web.StreamResponse:
        return _file(_OWN[request.match_info["place"]], request.match_info["path"])

    async def _app_page(self, request: web.Request) -> web.StreamResponse:
        from aiohttp import web

        folder = self.folders.get(request.match_info["package"])
        if folder is None:
            raise web.HTTPNotFound(text=f"{request.match_info['package']} is not installed")
        return _file(folder, request.match_info["path"])

    async def _load(self, request: web.Request) -> web.Response:
        return _json(self.store.load(request.match_info["package"]))

    async def _save(self, request: web.Request) -> web.Response:
        self.store.save(request.match_info["package"], await _object(request))
        return _json(None)

    async def _append(self, request: web.Request) -> web.Response:
        entry = await _object(request)
        self.store.append(request.match_info["package"], str(entry.get("kind", "")), entry.get("data"))
        return _json(None)

    async def _call(self, request: web.Request) -> web.Response:
        package, token, method = (request.match_info[name] for name in ("package", "token", "method"))
        try:
            return _json(await self.on_call(package, token, method, await _object(request)))
        except CallRefused as refusal:
            return _json({"error": str(refusal)}, status=409)
        except Exception as problem:
            _log.exception("%s of %s failed", method, package)
            return _json({"error": f"{type(problem).__name__}: {problem}"}, status=500)

    # the test channel

    def _controlled(self) -> Control:
        from aiohttp import web

        if self.control is None:
            raise web.HTTPNotFound(text="there is no test channel")
        return self.control

    async def _set_state(self, request: web.Request) -> web.Response:
        package = request.match_info["package"]
        self.store.save(package, await _object(request))
        await self._controlled().display.refresh(package)
        return _json(None)

    async def _read_log(self, request: web.Request) -> web.Response:
        return _json(self.store.log(request.match_info["package"]))

    async def _test_state(self, request: web.Request) -> web.Response:
        return _json(await self._controlled().state())

    async def _test_reward(self, request: web.Request) -> web.Response:
        return _json(await self._controlled().display.reward())

    async def _faults(self, request: web.Request) -> web.Response:
        faults = self._controlled().faults
        return _json({"active": [asdict(each) for each in faults.active()], "acted": faults.acted})

    async def _add_fault(self, request: web.Request) -> web.Response:
        """`{"fault": "name:key=value,…"}`, or the fields of a fault."""
        from aiohttp import web

        wanted = await _object(request)
        try:
            fault = Fault.parse(str(wanted["fault"])) if "fault" in wanted else Fault(**wanted)
        except (TypeError, ValueError) as problem:
            raise web.HTTPBadRequest(text=str(problem)) from problem
        self._controlled().faults.add(fault)
        return _json(asdict(fault))

    async def _clear_faults(self, request: web.Request) -> web.Response:
        self._controlled().faults.clear(request.query.get("name"))
        return _json(None)

    async def _reset(self, request: web.Request) -> web.Response:
        await self._controlled().reset()
        return _json(None)


def _file(folder: Path, path: str) -> web.StreamResponse:
    from aiohttp import web

    file = (folder / path).resolve()
    if not file.is_relative_to(folder.resolve()) or not file.is_file():
        raise web.HTTPNotFound(text=f"there is no {path}")
    return web.FileResponse(file, headers={"Cache-Control": "no-cache"})


def _json(value: Any, *, status: int = 200) -> web.Response:
    from aiohttp import web

    return web.json_response(value, status=status, dumps=lambda each: json.dumps(each, ensure_ascii=False))


async def _object(request: web.Request) -> dict[str, Any]:
    from aiohttp import web

    value = await request.json()
    if not isinstance(value, dict):
        raise web.HTTPBadRequest(text="the body is not a JSON object")
    return value
