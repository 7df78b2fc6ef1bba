"""Agents that are not ours: written from protocol page formula-trend, section 9, on a WebSocket library of others.

They do as Udacity's C++ agents do: no Engine.IO packets at all, an answer to each telemetry, nothing kept but what a
controller needs.
"""

import contextlib
import json
import math
import threading

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

# A circuit of two straights and two half circles, 8 m wide: short, so that a lap in lockstep takes a second or two.
RING = """
title = "Ring"
closed = true
kerbs = false
width = 8.0
runoff = 6.0
{segments}
"""


def ring(folder, straight=60.0, radius=60.0):
    """Write the circuit's file and return its path."""
    arc = f"[[segment]]\nradius = {radius}\nturn = 180.0\n"
    line = "[[segment]]\nstraight = {}\nadjust = true\n"
    path = folder / "ring.toml"
    path.write_text(RING.format(segments=line.format(straight / 2) + arc + line.format(straight) + arc
                                + line.format(straight / 2)))  # fmt: skip
    return path


@contextlib.contextmanager
def listening(agent):
    """Serve `agent` on a port of its own; yield the port."""
    with serve(agent, "127.0.0.1", 0, max_size=None) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.socket.getsockname()[1]
        server.shutdown()
        thread.join()


class Agent:
    """Answers frames of 42 alone, or bare JSON where those come. `drive(data)` returns (steering_angle, throttle)."""

    def __init__(self):
        self.paths, self.frames, self.seen = [], [], []
        self.best = math.inf

    def drive(self, data):
        raise AssertionError("each has its own")

    def answer(self, data):
        steering, throttle = self.drive(data)
        return {"steering_angle": steering, "throttle": throttle}

    def __call__(self, connection):
        self.paths.append(connection.request.path)
        with contextlib.suppress(ConnectionClosed):
            for text in connection:
                if len(self.frames) < 20:
                    self.frames.append(text)
                bare = text.startswith("{")
                if not bare and not text.startswith("42"):
                    continue  # pings and such: not for us
                if "null" in text:
                    connection.send('["manual",{}]' if bare else '42["manual",{}]')
                    continue
                data = json.loads(text)["telemetry"] if bare else json.loads(text[2:])[1]
                self.seen.append(data)
                reply = json.dumps(["steer", self.answer(data)], separators=(",", ":"))
                connection.send(reply if bare else "42" + reply)


class PidAgent(Agent):
    """The PID project: steers against the distance to the line and its change; throttle by speed."""

    def __init__(self):
        super().__init__()
        self.last, self.total = None, 0.0

    def drive(self, data):
        cte, speed = float(data["cte"]), float(data["speed"])
        change = cte - (cte if self.last is None else self.last)
        self.last, self.total = cte, self.total + cte
        steer = -0.15 * cte - 3.5 * change - 0.002 * self.total
        return max(-1.0, min(steer, 1.0)), 0.6 if speed < 30.0 else 0.0


class WaypointAgent(Agent):
    """The MPC project's scene, with a feedback law instead: a parabola through the waypoints in the car's frame."""

    def answer(self, data):
        steering, throttle = self.drive(data)
        return {"steering_angle": steering, "throttle": throttle, "mpc_x": [], "mpc_y": [],
                "next_x": self.ahead[0], "next_y": self.ahead[1]}  # fmt: skip

    def drive(self, data):
        cos, sin = math.cos(data["psi"]), math.sin(data["psi"])
        near = [(x - data["x"], y - data["y"]) for x, y in zip(data["ptsx"], data["ptsy"], strict=True)]
        xs = [x * cos + y * sin for x, y in near]
        ys = [y * cos - x * sin for x, y in near]
        self.ahead = xs, ys
        c2, c1, c0 = parabola(xs[:4], ys[:4])
        steer = -(0.06 * c0 + 0.9 * math.atan(c1) + 2.67 * 2.0 * c2 / math.radians(25.0))  # positive to the right
        return max(-1.0, min(steer, 1.0)), 0.6 if data["speed"] < 30.0 else 0.0


def parabola(xs, ys):
    """Return c2, c1, c0 of the least-squares parabola, by its normal equations."""
    import numpy as np

    return np.polyfit(xs, ys, 2).tolist()
