"""A real browser without a window, spoken to in its own protocol (Chrome DevTools): no driver library needed."""

import base64
import contextlib
import itertools
import json
import shutil
import subprocess
import urllib.request

from websockets.sync.client import connect

from helpers.waiting import wait_for, wait_until

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CODES = {"ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "Space": 32, "Escape": 27}


def find():
    """Return the path of a browser, None where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One tab. `evaluate` runs an expression in the page, `key` presses or lets go of a key."""

    def __init__(self, folder, size=(1400, 1000)):
        self._folder = folder
        self._process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
             "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0",
             f"--user-data-dir={folder}", f"--window-size={size[0]},{size[1]}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self._numbers = itertools.count(1)
        self.messages = []
        try:
            port = self._port()
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=20) as answer:
                tab = next(t for t in json.load(answer) if t["type"] == "page")
            self._open = contextlib.ExitStack()
            channel = connect(tab["webSocketDebuggerUrl"], max_size=None, open_timeout=20, proxy=None)
            self._socket = self._open.enter_context(channel)
            for domain in ("Page", "Runtime", "Log"):
                self.call(f"{domain}.enable")
        except BaseException:
            self._end()
            raise

    def _port(self):
        file = self._folder / "DevToolsActivePort"
        return int(wait_for(lambda: file.read_text().splitlines() if file.exists() else None, poll_s=0.05)[0])

    def call(self, method, **parameters):
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=30))
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self.messages.append(message)

    @property
    def complaints(self):
        """Uncaught exceptions and errors in the console so far."""
        self.evaluate("1")
        thrown = [m["params"] for m in self.messages if m.get("method") == "Runtime.exceptionThrown"]
        logged = [m["params"]["entry"] for m in self.messages if m.get("method") == "Log.entryAdded"]
        return thrown + [entry for entry in logged if entry["level"] == "error"]

    def open(self, url):
        self.call("Page.navigate", url=url)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, expression, seconds=30.0):
        """Wait until an expression is true in the page."""
        look = f"(() => {{ try {{ return !!({expression}); }} catch {{ return false; }} }})()"
        assert wait_until(lambda: self.evaluate(look), seconds, 0.05) is not None, f"still not: {expression}"

    def key(self, code, down):
        self.call(
            "Input.dispatchKeyEvent", type="rawKeyDown" if down else "keyUp", code=code, key=code,
            windowsVirtualKeyCode=CODES[code],
        )  # fmt: skip

    def theme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self):
        with contextlib.suppress(Exception):
            self._socket.send(json.dumps({"id": 0, "method": "Browser.close", "params": {}}))
        self._open.close()
        self._end()

    def _end(self):
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
