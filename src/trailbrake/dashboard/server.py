"""The page's server: on this machine only, in a thread of its own, each page at the pace that it can take."""

import asyncio
import itertools
import socket
import threading
import time
from collections.abc import Iterator
from importlib.resources import files
from io import BytesIO
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from trailbrake.dashboard import wire
from trailbrake.dashboard.board import Board
from trailbrake.errors import SimulatorError, WireError

RATE = 60.0  # Hz of frames, at most
AHEAD = 3  # frames that may be on their way to a page; what it is too slow for it never gets
DEBUG_EVERY = 3  # frames between a driver's debug pictures: they must be encoded first
ADDRESS = "127.0.0.1"
HOSTS = (ADDRESS, "localhost")
FAREWELL = 1.0  # s that pages may take to hear that it is over
PATIENCE = 5.0  # s that close() waits for the thread
WRONG_DATA, NOT_WELCOME, OVER = 1007, 1008, 1001  # close codes, RFC 6455 section 7.4.1
# Nothing but what this server sends: no network is needed, and none is used.
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; connect-src 'self'"
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
# URL -> (package, file). What the report's page has is not there twice.
_OWN = ("live.css", "wire.js", "track.js", "strips.js", "hands.js", "main.js")
_OF_THE_REPORT = ("theme.css", "basics.js", "vendor/uPlot.iife.min.js", "vendor/uPlot.min.css")
_FILES = {
    "/": ("dashboard", "index.html"),
    **{f"/{name}": ("dashboard", name) for name in _OWN},
    **{f"/{name}": ("analysis", name) for name in _OF_THE_REPORT},
}


def application(board: Board) -> Starlette:
    """Return the application that shows `board`."""
    numbers = itertools.count(1)

    async def live(page: WebSocket) -> None:
        origin = page.headers.get("origin", "")
        if origin and origin != f"http://{page.headers.get('host', '')}":  # another site's script wants to drive
            await page.close(NOT_WELCOME)
            return
        await page.accept()
        board.pages += 1
        try:
            await _Page(page, board, next(numbers)).serve()
        finally:
            board.pages -= 1

    routes = [Route(url, _file(*place), methods=["GET"]) for url, place in _FILES.items()]
    # A foreign name that leads to this address must not open the page either.
    guard = Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS))
    return Starlette(routes=[*routes, WebSocketRoute("/live", live)], middleware=[guard])


def _file(package: str, name: str) -> Any:
    data = (files(f"trailbrake.{package}") / "page" / name).read_bytes()
    headers = {"Cache-Control": "no-store", "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}
    kind = _KINDS[name.rpartition(".")[2]]

    async def answer(request: Request) -> Response:
        return Response(data, headers=headers, media_type=kind)

    return answer


class _Page:
    """One page that is open somewhere."""

    def __init__(self, page: WebSocket, board: Board, number: int) -> None:
        self._page, self._board, self._number = page, board, number
        self._sent = self._seen = 0
        self._skipped = 0
        self._told = 0  # lines of the board
        self._header, self._restarts = "", 0
        self._pictures: list[Any] = [None, None]  # the last of each kind; held, so that none takes its place in memory
        self._seat = ""

    async def serve(self) -> None:
        """Tell the page everything, and hear it, until it leaves or the drive is over."""
        telling = asyncio.create_task(self._tell())
        hearing = asyncio.create_task(self._hear())
        done, left = await asyncio.wait((telling, hearing), return_when=asyncio.FIRST_COMPLETED)
        for task in left:
            task.cancel()
        self._board.seat.leave(self._number)
        results = await asyncio.gather(*done, *left, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect | RuntimeError | OSError):
                raise result

    async def _hear(self) -> None:
        while True:
            message = await self._page.receive()
            if message["type"] == "websocket.disconnect":
                return
            try:
                seen, wish = wire.answer(message.get("bytes") or b"")
            except WireError:
                await self._page.close(WRONG_DATA)
                return
            self._seen = max(self._seen, min(int(seen), self._sent))
            if wish is None or not self._board.by_hand:
                self._board.seat.leave(self._number)
            else:
                self._board.seat.ask(self._number, wish)

    async def _tell(self) -> None:
        board, page = self._board, self._page
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            over = board.over  # first: what was told before it is told still
            for message in self._texts():
                await page.send_text(message)
            if over is not None:
                await page.send_text(wire.text("over", over))
                await page.close(OVER)
                return
            if board.tap is not None and board.tap.newest is not None:
                if board.tap.restarts != self._restarts or not self._sent:
                    self._restarts = board.tap.restarts
                    await page.send_bytes(wire.path(board.tap.path))
                if self._sent - self._seen < AHEAD:
                    for part in self._frame():
                        await page.send_bytes(part)
                else:
                    self._skipped += 1
            due = max(due + 1.0 / RATE, loop.time() - 1.0 / RATE)
            await asyncio.sleep(due - loop.time())

    def _texts(self) -> Iterator[str]:
        board = self._board
        if board.header != self._header:
            self._header = board.header
            yield board.header
        while self._told < len(board.lines):
            self._told += 1
            yield board.lines[self._told - 1]
        holder = board.seat.holder
        seat = "free" if holder is None else "you" if holder == self._number else "another"
        if seat != self._seat:
            self._seat = seat
            yield wire.text("seat", seat)

    def _frame(self) -> Iterator[bytes]:
        tap = self._board.tap
        assert tap is not None
        assert tap.newest is not None
        self._sent += 1
        health = tap.health()
        state, controls, _ = tap.newest
        health.frame, health.skipped, health.sent = float(self._sent), float(self._skipped), time.time()
        yield wire.frame(state, controls, health, state.others)
        if state.image is not None and state.image is not self._pictures[0]:
            self._pictures[0] = state.image
            yield wire.picture(wire.CAMERA, state.image.data)
        if self._sent % DEBUG_EVERY == 0:
            debug = tap.debug
            if debug is not None and debug is not self._pictures[1]:
                self._pictures[1] = debug
                encoded = _encoded(debug)
                if encoded:
                    yield wire.picture(wire.DEBUG, encoded)


def _encoded(pixels: Any) -> bytes:
    """Return a (height, width, 3) uint8 RGB array as JPEG; b"" where it is none: a picture never ends a drive."""
    import numpy as np
    from PIL import Image

    array = np.asarray(pixels)
    if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8 or array.size == 0:
        return b""
    out = BytesIO()
    Image.fromarray(np.ascontiguousarray(array)).save(out, "JPEG", quality=85)
    return out.getvalue()


class PageServer:
    """Serves a board's page until closed.

    Args:
        board: what to show.
        port: 0 for any free one.

    Attributes:
        url: where the page is.

    Raises:
        SimulatorError: the port is taken.
    """

    def __init__(self, board: Board, port: int = 0) -> None:
        self._board = board
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._socket.bind((ADDRESS, port))
            self._socket.listen()  # from now on callers wait instead of being refused
        except (OSError, OverflowError) as error:
            self._socket.close()
            raise SimulatorError(
                "cannot serve the page", where=f"port {port}", expected="a free port",
                got=getattr(error, "strerror", None) or str(error), hint="0 takes any free one",
            ) from error  # fmt: skip
        self.url = f"http://{ADDRESS}:{self._socket.getsockname()[1]}/"
        config = uvicorn.Config(
            application(board), log_config=None, log_level="critical", access_log=False, lifespan="off",
            ws="websockets-sansio", ws_per_message_deflate=False, ws_max_size=1024, timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="live page", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        self._server.run(sockets=[self._socket])

    def close(self, reason: str = "") -> None:
        """Tell the pages that it is over, and why, and stop serving."""
        self._board.over = reason
        deadline = time.monotonic() + FAREWELL
        while self._board.pages and time.monotonic() < deadline:
            time.sleep(0.5 / RATE)
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        self._socket.close()
