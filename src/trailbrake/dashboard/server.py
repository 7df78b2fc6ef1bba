"""The live page's server: on this machine unless opened, in a thread of its own, each page at its own pace.

`PageState`: what open pages show, written by the drive's thread; `ControlLease`: which page drives.
"""

import asyncio
import itertools
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, TypeAlias

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from trailbrake.control.vehicle.manual_input import ManualInput
from trailbrake.dashboard import page_messages
from trailbrake.dashboard.frame_source import PageRequest, decode_request
from trailbrake.dashboard.live_tap import LiveTap
from trailbrake.dashboard.options import OWN_PAGE, PageAccess
from trailbrake.dashboard.page_connections import (
    BACKLOG,
    LOOPBACK,
    MAX_PAGES,
    OWN_NAMES,
    AccessGate,
    LimitedProtocol,
    SecurityHeaders,
)
from trailbrake.dashboard.replay_player import ReplayPlayer
from trailbrake.errors import SimulatorError, WireError, describe_os_error
from trailbrake.pages.rendering import read_asset
from trailbrake.state import DebugLine
from trailbrake.transport.rendezvous import find_own_address

FRAME_RATE = 60.0  # Hz of frames, at most
MAX_FRAMES_AHEAD = 3  # frames that may be on their way to a page; a slow page gets fewer frames
UPDATE_INTERVAL = 1.0 / 30.0  # s between updates of the source
DEBUG_INTERVAL = 3  # frames between a driver's debug pictures: they must be encoded first
ANY_ADDRESS = "0.0.0.0"
TOKEN_BYTES = 12  # random ones: 16 characters of an address
WATCHES_ONLY = "this device only watches: --watch-control lets it do more"
FAREWELL_S = 1.0  # s for sending the end to the pages
JOIN_TIMEOUT_S = 5.0  # s for which close() waits for the thread
WRONG_DATA, FOREIGN_ORIGIN, DRIVE_ENDED, TOO_MANY_PAGES = 1007, 1008, 1001, 1013  # close codes, RFC 6455 section 7.4.1
_MEDIA_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_PAGE_FILES = (
    "live.css", "wire.js", "maps.js", "dash.js", "coach.js", "strips.js", "panels.js", "controls.js", "hands.js",
    "main.js", "scene.js", "scene/main.js", "scene/road.js", "scene/cars.js", "scene/cameras.js",
)  # fmt: skip
_SHARED_FILES = (
    "theme.css", "basics.js", "map.js", "vendor/uPlot.iife.min.js", "vendor/uPlot.min.css",
    "vendor/three.module.min.js", "vendor/three.core.min.js",
)  # fmt: skip
_ROUTES = {  # URL -> asset
    "/": "live/index.html",
    **{f"/{name}": f"live/{name}" for name in _PAGE_FILES},
    **{f"/{name}": f"shared/{name}" for name in _SHARED_FILES},
}
MAX_TEXTS = 500  # kept for pages that are opened later
LEASE_TIMEOUT_S = 0.25  # s of a page's silence after which it loses the lease: the dead-man


FrameSource: TypeAlias = LiveTap | ReplayPlayer  # its methods are called by the server's thread


class ControlLease:
    """Gives the controls to the first page that requests them; another may have them after a release or a timeout.

    Args:
        clock: steady time, s.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._newest_request: tuple[int, ManualInput, float] | None = None  # page, input, time; replaced whole
        self._change_lock = threading.Lock()

    def request_control(self, page: int, manual_input: ManualInput) -> bool:
        """Store a page's input if the page has the lease or can have it; return whether it drives."""
        with self._change_lock:
            if self.holder not in (None, page):
                return False
            self._newest_request = (page, manual_input, self._clock())
            return True

    def release_control(self, page: int) -> None:
        """End the lease, if this page has it."""
        with self._change_lock:
            if self._newest_request is not None and self._newest_request[0] == page:
                self._newest_request = None

    @property
    def holder(self) -> int | None:
        """Number of the page that drives; None while no page does."""
        held = self._newest_request
        return held[0] if held is not None and self._clock() - held[2] <= LEASE_TIMEOUT_S else None

    def newest_input(self) -> ManualInput | None:
        """Return the newest input of the page that drives; None while no page does."""
        held = self._newest_request
        return held[1] if held is not None and self._clock() - held[2] <= LEASE_TIMEOUT_S else None


class PageState:
    """The state of a drive for its pages. Parts are replaced or appended, never changed in place.

    Args:
        clock: steady time, s.

    Attributes:
        control_lease: which page drives, where the driver is the person at the page.
        source: of the frames; None before the start.
        scene: what `scene_data.describe_scene` returns, as JSON; "" before the start.
        header: the text message that a page needs before the first frame; "" before the start.
        texts: text messages since the start: laps, and lines for the user.
        is_driven_by_hand: the driver is the person at the page.
        sounding_page: number of the page that beeps and speaks; None: no page does.
        end_reason: why the drive has ended, "" as planned; None while it goes on.
        open_pages: how many are open; the server counts them.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.control_lease = ControlLease(clock)
        self.source: FrameSource | None = None
        self.header = self.scene = ""
        self.texts: list[str] = []
        self.is_driven_by_hand = False
        self.sounding_page: int | None = None
        self.end_reason: str | None = None
        self.open_pages = 0

    def start_drive(self, source: FrameSource, header: dict[str, Any], scene: dict[str, Any]) -> None:
        """Start to show a drive or a recording."""
        self.is_driven_by_hand = header["by_hand"]
        self.source = source
        self.scene = json.dumps(scene, allow_nan=False)
        self.header = page_messages.encode_text("header", header)

    def publish_text(self, kind: str, value: Any) -> None:
        """Add a text message; further ones than MAX_TEXTS are dropped, since a page counts what it has received."""
        if len(self.texts) < MAX_TEXTS:
            self.texts.append(page_messages.encode_text(kind, value))


def build_application(state: PageState, token: str = "", control: bool = False) -> Starlette:
    """Return the application that shows `state`; `token` and `control` are those of `AccessGate`."""
    numbers = itertools.count(1)

    async def live(page: WebSocket) -> None:
        origin = page.headers.get("origin", "")
        if origin and origin != f"http://{page.headers.get('host', '')}":  # a script of another site
            await page.close(FOREIGN_ORIGIN)
            return
        if state.open_pages >= MAX_PAGES:
            await page.close(TOO_MANY_PAGES)
            return
        state.open_pages += 1  # before the next wait: requests that come meanwhile count it
        try:
            await page.accept()
            await _PageConnection(page, state, next(numbers)).serve_page()
        finally:
            state.open_pages -= 1

    async def scene(request: Request) -> Response:
        return Response(state.scene, media_type="application/json")

    routes = [Route(url, _file_endpoint(asset), methods=["GET"]) for url, asset in _ROUTES.items()]
    guard = Middleware(AccessGate, token=token, control=control)
    routes_and_live = [*routes, Route("/scene.json", scene, methods=["GET"]), WebSocketRoute("/live", live)]
    return Starlette(routes=routes_and_live, middleware=[Middleware(SecurityHeaders), guard])


def _file_endpoint(asset: str) -> Any:
    data = read_asset(asset)
    kind = _MEDIA_TYPES[asset.rpartition(".")[2]]

    async def answer(request: Request) -> Response:
        return Response(data, media_type=kind)

    return answer


class _PageConnection:
    """One open page."""

    def __init__(self, websocket: WebSocket, state: PageState, number: int) -> None:
        self._websocket, self._state, self._number = websocket, state, number
        self._may_control = bool(websocket.scope["may_control"])
        self._frames_sent = self._frames_seen = 0
        self._frames_skipped = 0
        self._texts_sent = 0  # of `PageState.texts`
        self._header, self._restarts, self._histories = "", -1, -1  # none is sent yet
        self._controls_text, self._refusal = "", ""
        self._pictures: list[Any] = [None, None]  # the last of each kind; kept alive: no other object gets its id
        self._lease_text = self._sound_text = ""
        self._lines: tuple[DebugLine, ...] = ()  # the last that were sent; kept alive, as the pictures

    async def serve_page(self) -> None:
        """Send updates and receive answers until the page closes or the drive is over."""
        sending = asyncio.create_task(self._send_updates())
        receiving = asyncio.create_task(self._receive_answers())
        done, left = await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_COMPLETED)
        for task in left:
            task.cancel()
        self._state.control_lease.release_control(self._number)
        self._set_sound(False)
        results = await asyncio.gather(*done, *left, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect | RuntimeError | OSError):
                raise result

    async def _receive_answers(self) -> None:
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            try:
                if message.get("text"):
                    self._execute_request(decode_request(message["text"]))
                    continue
                seen, manual_input = page_messages.decode_answer(message.get("bytes") or b"")
            except WireError:
                await self._websocket.close(WRONG_DATA)
                return
            self._frames_seen = max(self._frames_seen, min(int(seen), self._frames_sent))
            if manual_input is None or not (self._may_control and self._state.is_driven_by_hand):
                self._state.control_lease.release_control(self._number)
            else:
                self._state.control_lease.request_control(self._number, manual_input)

    def _set_sound(self, wanted: bool) -> None:
        """Let this page alone beep and speak, or no longer."""
        if wanted or self._state.sounding_page == self._number:
            self._state.sounding_page = self._number if wanted else None

    def _execute_request(self, request: PageRequest) -> None:
        if request.action == "sound":
            self._set_sound(any(request.values))
        elif not self._may_control:
            self._refusal = WATCHES_ONLY
        elif self._state.source is not None:
            self._refusal = self._state.source.execute_request(request) or self._refusal

    async def _send_updates(self) -> None:
        state, websocket = self._state, self._websocket
        loop = asyncio.get_running_loop()
        due = loop.time()
        if not self._may_control:
            await websocket.send_text(page_messages.encode_text("watches_only", True))
        while True:
            end_reason = state.end_reason  # read first: texts from before the end are sent still
            for message in self._pending_texts():
                await websocket.send_text(message)
            if end_reason is not None:
                await websocket.send_text(page_messages.encode_text("over", end_reason))
                await websocket.close(DRIVE_ENDED)
                return
            if state.source is not None:
                if self._frames_sent - self._frames_seen < MAX_FRAMES_AHEAD:
                    for part in self._frame_parts(state.source):
                        await websocket.send_bytes(part)
                else:
                    self._frames_skipped += 1
            due = max(due + 1.0 / FRAME_RATE, loop.time() - 1.0 / FRAME_RATE)
            await asyncio.sleep(due - loop.time())

    def _pending_texts(self) -> Iterator[str]:
        state = self._state
        if state.header != self._header:
            self._header = state.header
            yield state.header
        while self._texts_sent < len(state.texts):
            self._texts_sent += 1
            yield state.texts[self._texts_sent - 1]
        holder = state.control_lease.holder
        lease = "free" if holder is None else "you" if holder == self._number else "another"
        if lease != self._lease_text:
            self._lease_text = lease
            yield page_messages.encode_text("seat", lease)
        sound = {None: "free", self._number: "you"}.get(state.sounding_page, "another")
        if sound != self._sound_text:
            self._sound_text = sound
            yield page_messages.encode_text("sound", sound)
        if state.source is None:
            return
        if state.source.lines is not self._lines:
            self._lines = state.source.lines
            yield page_messages.encode_text("lines", page_messages.plan_lines(self._lines))
        controls = page_messages.encode_text("controls", state.source.describe_controls())
        if controls != self._controls_text:
            self._controls_text = controls
            yield controls
        if self._refusal:
            yield page_messages.encode_text("refused", self._refusal)
            self._refusal = ""

    def _frame_parts(self, source: FrameSource) -> Iterator[bytes]:
        if not source.has_frames:
            return
        if source.restart_count != self._restarts:
            self._restarts = source.restart_count
            yield page_messages.encode_path(source.encode_path())
        if source.history_count != self._histories:
            self._histories = source.history_count
            yield page_messages.encode_history(source.encode_rows())
        self._frames_sent += 1
        # Made after the history: its clock must not be behind that.
        frame = source.make_frame(self._frames_sent, self._frames_skipped, time.time())
        yield page_messages.encode_frame(frame.row, frame.others)
        if frame.image is not None and frame.image is not self._pictures[0]:
            self._pictures[0] = frame.image
            yield page_messages.encode_picture(page_messages.CAMERA, frame.image.data)
        if self._frames_sent % DEBUG_INTERVAL == 0:
            debug = source.debug_image
            if debug is not None and debug is not self._pictures[1]:
                self._pictures[1] = debug
                encoded = _encode_debug_image(debug)
                if encoded:
                    yield page_messages.encode_picture(page_messages.DEBUG, encoded)


def _encode_debug_image(pixels: Any) -> bytes:
    """Return a (height, width, 3) uint8 RGB array as JPEG; b"" where it is none: an image never ends a drive."""
    import numpy as np
    from PIL import Image

    array = np.asarray(pixels)
    if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8 or array.size == 0:
        return b""
    out = BytesIO()
    Image.fromarray(np.ascontiguousarray(array)).save(out, "JPEG", quality=85)
    return out.getvalue()


def _listen(host: str, port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.bind((host, port))
        listening.listen(BACKLOG)  # from now on clients wait instead of being refused
    except (OSError, OverflowError) as error:
        listening.close()
        raise SimulatorError(
            "cannot serve the page", where=f"{host}, port {port}", expected="an address of this machine, a free port",
            got=describe_os_error(error), hint="port 0 takes any free one",
        ) from error  # fmt: skip
    return listening


def _ignore_system_limits(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if not isinstance(context.get("exception"), OSError):
        loop.default_exception_handler(context)


class PageServer:
    """Serves the live page until closed.

    Args:
        state: of the drive to show.
        port: 0 for any free one.
        access: who sees it.

    Attributes:
        url: where the page is, on this machine.
        outer_url: where other devices find it, with a token; "" where it is not served to them.

    Raises:
        SimulatorError: the port is taken, or the host is no address of this machine.
    """

    def __init__(self, state: PageState, port: int = 0, access: PageAccess = OWN_PAGE) -> None:
        self._state = state
        host = access.watch_host
        self._sockets = [_listen(ANY_ADDRESS if host == ANY_ADDRESS else LOOPBACK, port)]
        port = self._sockets[0].getsockname()[1]
        self.url, self.outer_url, token = f"http://{LOOPBACK}:{port}/", "", ""
        if host:
            try:
                if host not in (ANY_ADDRESS, *OWN_NAMES):
                    self._sockets.append(_listen(host, port))
            except SimulatorError:
                self._sockets[0].close()
                raise
            token = secrets.token_urlsafe(TOKEN_BYTES)
            self.outer_url = f"http://{find_own_address() if host == ANY_ADDRESS else host}:{port}/{token}/"
        config = uvicorn.Config(
            build_application(state, token, access.watch_control),
            log_config=None, log_level="critical", access_log=False, lifespan="off",
            http=LimitedProtocol, ws="websockets-sansio", ws_per_message_deflate=False, ws_max_size=1024,
            backlog=BACKLOG, timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run_server, name="live page", daemon=True)
        self._thread.start()

    def _run_server(self) -> None:
        asyncio.run(self._serve_until_closed())

    async def _serve_until_closed(self) -> None:
        # Without a free descriptor the loop cannot accept, says so in a traceback, and tries again a second later.
        asyncio.get_running_loop().set_exception_handler(_ignore_system_limits)
        updates = asyncio.create_task(self._update_source())
        try:
            await self._server.serve(sockets=self._sockets)
        finally:
            updates.cancel()

    async def _update_source(self) -> None:
        while True:
            if self._state.source is not None:
                self._state.source.update()
            await asyncio.sleep(UPDATE_INTERVAL)

    def close(self, reason: str = "") -> None:
        """Send the pages the reason of the end and stop serving."""
        self._state.end_reason = reason
        deadline = time.monotonic() + FAREWELL_S
        while self._state.open_pages and time.monotonic() < deadline:
            time.sleep(0.5 / FRAME_RATE)
        self._server.should_exit = True
        self._thread.join(JOIN_TIMEOUT_S)
        for listening in self._sockets:
            listening.close()
