"""Views of a served world: the picture from the first car, and the protocol of others.

The picture is drawn beside the host's loop, published on a page of shared memory, and shown in a window if wanted.

A window that shows the view of a served world: `python -m trailbrake.driving.world_view TITLE [DOORS]`.

It reads the host's page and ends with the host, when its standard input is closed. Toolkit: tkinter, of Python's
standard library.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from trailbrake.driving.options import ViewKind
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.roles import Plant, RoadPlant
from trailbrake.system.processes import process_group_options
from trailbrake.transport.capture.view_page import Pixels, ViewReader, ViewWriter

if TYPE_CHECKING:
    import tkinter

WIDTH, HEIGHT = 640, 480  # pixels
RATE_HZ = 60.0
CLOSE_S = 2.0  # s that the window, and the thread, may take to end
_POLL_MS = 4


class TickView(Protocol):
    """Shows a served world."""

    def update(self, now: float) -> None:
        """Called after each tick of the host, with the time of the steady clock, s."""


class ServeView(Protocol):
    """Shows served worlds: the live page."""

    def attach_world(self, about: JsonObject, plant: Plant, cars: int) -> TickView:
        """Return the view of a world with so many cars; `about` has the sim, the track and the car."""


class WorldView:
    """Draws the view from the first car and writes it to the page, in a thread of its own.

    The host's loop calls `update`, which costs it a few microseconds, and a state of the car where a picture is due.

    Args:
        plant: the world.
        doors: folder of a private wire; None = the public names.

    Raises:
        UsageError: a world without a road of full size.
    """

    def __init__(self, plant: Plant, doors: str | None) -> None:
        if not isinstance(plant, RoadPlant):
            raise UsageError("this world has no road to show", where="--view", hint="its wire has a camera of its own")
        from trailbrake.world.road_renderer import DashCamera

        self._plant, self._pose = plant, (0.0, 0.0, 0.0, 0.0)
        self._camera = DashCamera(plant.track.road, WIDTH, HEIGHT)
        self._page = ViewWriter(doors)
        self._due_at, self._ended = 0.0, False
        self._wanted = threading.Event()
        self._thread = threading.Thread(target=self._draw_until_closed, name="view", daemon=True)
        self._thread.start()

    def update(self, now: float) -> None:
        """Have a picture drawn, where one is due at `now` (s, steady clock)."""
        if now < self._due_at:
            return
        late = now - self._due_at
        self._due_at = now + 1.0 / RATE_HZ - (late if late < 1.0 / RATE_HZ else 0.0)
        state = self._plant.car_state(0)
        self._pose = state.x, state.y, state.yaw, state.time
        self._wanted.set()

    def _draw_until_closed(self) -> None:
        while self._wanted.wait() and not self._ended:
            self._wanted.clear()
            x, y, yaw, time = self._pose
            self._page.write_picture(self._camera.render_frame(x, y, yaw), time)

    def close(self) -> None:
        """End the thread and remove the page."""
        self._ended = True
        self._wanted.set()
        self._thread.join(CLOSE_S)
        self._page.close()


@contextmanager
def open_view(kind: ViewKind, plant: Plant, doors: str | None, title: str) -> Iterator[WorldView | None]:
    """Show the view of a served world as `kind` says; None for "none".

    Args:
        kind: nothing, a page for `--camera world`, or also a window.
        plant: the world.
        doors: folder of a private wire; None = the public names.
        title: of the window.

    Raises:
        UsageError: a world without a road, or no window toolkit here.
    """
    if kind == "none":
        yield None
        return
    view = WorldView(plant, doors)
    try:
        with _open_window(doors, title) if kind == "window" else _no_window():
            yield view
    finally:
        view.close()


@contextmanager
def _no_window() -> Iterator[None]:
    yield None


@contextmanager
def _open_window(doors: str | None, title: str) -> Iterator[None]:
    # A process of its own: a window toolkit holds the interpreter's lock for milliseconds.
    words = [sys.executable, "-m", "trailbrake.driving.world_view", title, *([doors] if doors else [])]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ),
                               **process_group_options())  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        answer = process.stdout.readline().strip()
        if answer != "shown":
            raise UsageError("no window can be opened", where="--view window", got=answer or "no answer",
                             hint="--view page needs no screen")  # fmt: skip
        yield None
    finally:
        process.stdin.close()  # requests its end
        try:
            process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def encode_ppm(pixels: Pixels) -> bytes:
    """Return pixels (height, width, 3) uint8 RGB as a portable pixmap, which the toolkit reads at once."""
    height, width, _ = pixels.shape
    return b"P6 %d %d 255\n" % (width, height) + pixels.tobytes()


def open_picture_window(title: str, width: int, height: int) -> "tuple[tkinter.Tk, tkinter.PhotoImage]":
    """Return a window of the toolkit and the picture that fills it.

    Args:
        title: of the window.
        width: of the picture, pixels.
        height: of the same.

    Raises:
        OSError: no toolkit, or no screen.
    """
    try:
        import tkinter

        window = tkinter.Tk()
    except ImportError as error:
        raise OSError("no tkinter in this Python (on Debian: the package python3-tk)") from error
    except tkinter.TclError as error:
        raise OSError(str(error)) from error
    window.title(title)
    window.geometry(f"{width}x{height}")
    picture = tkinter.PhotoImage(width=width, height=height)
    tkinter.Label(window, image=picture, borderwidth=0).pack()
    return window, picture


def show_view(title: str, doors: str | None) -> None:
    """Show the view until the window is closed or the host ends; print "shown" when it is there, or why not."""
    try:
        window, picture = open_picture_window(title, WIDTH, HEIGHT)
    except OSError as error:
        print(error, flush=True)
        return
    reader, ended = ViewReader(doors), threading.Event()
    threading.Thread(target=_await_end, args=(ended,), daemon=True).start()

    def show_newest() -> None:
        try:
            pixels = reader.grab_pixels()
        except SimulatorError:
            ended.set()
            pixels = None
        if ended.is_set():
            window.destroy()
            return
        if pixels is not None:
            picture.configure(data=encode_ppm(pixels), format="ppm")
        window.after(_POLL_MS, show_newest)

    window.update()
    print("shown", flush=True)
    show_newest()
    window.mainloop()


def _await_end(ended: threading.Event) -> None:
    # The descriptor itself: a buffered read would hold a lock that the end of the interpreter wants.
    while os.read(sys.stdin.fileno(), 1024):
        pass
    ended.set()


if __name__ == "__main__":
    show_view(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
