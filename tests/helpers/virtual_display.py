"""An X display without a screen (Xvfb), and a window on it that does what it is told; both end with their context."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest

WINDOW = """
import sys, tkinter
window = tkinter.Tk()
window.title(sys.argv[1])
window.geometry(sys.argv[2])
canvas = tkinter.Canvas(window, highlightthickness=0, bg="#000000")
canvas.pack(fill="both", expand=True)

def paint(left, right):
    canvas.update_idletasks()
    width, height = window.winfo_width(), window.winfo_height()
    canvas.delete("all")
    canvas.create_rectangle(0, 0, width // 2, height, fill=left, width=0)
    canvas.create_rectangle(width // 2, 0, width, height, fill=right, width=0)

def settle():
    for _ in range(20):
        window.update()

settle()
print("ready", flush=True)
for line in sys.stdin:
    verb, *rest = line.split()
    if verb == "paint":
        paint(*rest)
    elif verb == "resize":
        window.geometry(rest[0])
    elif verb == "hide":
        window.withdraw()
    elif verb == "show":
        window.deiconify()
    elif verb == "raise":
        window.lift()
    settle()
    print("done", flush=True)
"""


@contextmanager
def virtual_display(width=1280, height=800):
    """Start an X server; yields its name, as in DISPLAY. Skips the test where there is no Xvfb or no tkinter."""
    if not shutil.which("Xvfb"):
        pytest.skip("no Xvfb here (Debian: xvfb)")
    pytest.importorskip("tkinter")
    pytest.importorskip("xcffib")
    ours, theirs = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(theirs), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=[theirs], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(theirs)
    try:
        with os.fdopen(ours) as line:
            number = line.readline().strip()
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


class TestWindow:
    """A window of two colours side by side."""

    __test__ = False  # no test class

    def __init__(self, display, title, geometry):
        self.process = subprocess.Popen(
            [sys.executable, "-c", WINDOW, title, geometry], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "DISPLAY": display},
        )  # fmt: skip
        assert self.process.stdout.readline() == "ready\n"

    def order(self, *words):
        """Have it done: paint LEFT RIGHT, resize GEOMETRY, hide, show, raise."""
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@contextmanager
def open_test_window(display, title="Test Game", geometry="400x300+100+50"):
    window = TestWindow(display, title, geometry)
    try:
        yield window
    finally:
        if window.process.poll() is None:
            window.close()
