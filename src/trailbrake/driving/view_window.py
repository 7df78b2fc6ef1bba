"""A window that shows the view of a served world: `python -m trailbrake.driving.view_window TITLE [DOORS]`.

It reads the host's page and ends with the host, when its standard input is closed. Toolkit: tkinter, of Python's
standard library.
"""

import os
import sys
import threading

from trailbrake.driving.world_view import HEIGHT, WIDTH
from trailbrake.errors import SimulatorError
from trailbrake.transport.capture.view_page import Pixels, ViewReader

_POLL_MS = 4


def encode_ppm(pixels: Pixels) -> bytes:
    """Return pixels (height, width, 3) uint8 RGB as a portable pixmap, which the toolkit reads at once."""
    height, width, _ = pixels.shape
    return b"P6 %d %d 255\n" % (width, height) + pixels.tobytes()


def show_view(title: str, doors: str | None) -> None:
    """Show the view until the window is closed or the host ends; print "shown" when it is there, or why not."""
    try:
        import tkinter
    except ImportError:
        print("no tkinter in this Python (on Debian: the package python3-tk)", flush=True)
        return
    try:
        window = tkinter.Tk()
    except tkinter.TclError as error:
        print(str(error), flush=True)
        return
    window.title(title)
    window.geometry(f"{WIDTH}x{HEIGHT}")
    picture = tkinter.PhotoImage(width=WIDTH, height=HEIGHT)
    tkinter.Label(window, image=picture, borderwidth=0).pack()
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
