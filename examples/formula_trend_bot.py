"""A bot for Formula Trend that needs nothing of trailbrake: it listens, and answers each picture with a command.

`trailbrake race --entry "{python} examples/formula_trend_bot.py {port}" --track oval` races it; so would the simulator
itself with `--port 4567`. It keeps to the middle lane of its half of the road by the colour of that lane.

Needs numpy, pillow and websockets. Socket.IO is texts over a WebSocket: `0` opens, `2` asks and `3` answers "are you
there", `40` connects, `42["event", data]` is an event.
"""

import base64
import io
import json
import os
import sys

import numpy as np
from PIL import Image
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

SPEED = 1.2  # m/s


def decide(telemetry: dict[str, str]) -> tuple[float, float]:
    """Return steer (degrees, positive to the right) and throttle (-1..1)."""
    picture = Image.open(io.BytesIO(base64.b64decode(telemetry["image"]))).convert("RGB")
    red, green, blue = np.asarray(picture, dtype=float)[130:200].transpose(2, 0, 1)
    # The middle lane of each half of the road is red between white ones, or blue between red and green ones.
    is_red = (red > 120) & (green < 110) & (blue < 110)
    is_blue = (blue > 120) & (blue > red + 30) & (blue > green + 15)
    lane = is_blue if is_blue.sum() >= 200 else is_red
    if lane.sum() < 200:  # nothing to follow: go gently on
        return 0.0, 0.2
    aim = np.nonzero(lane)[1].mean() - 159.5  # pixels to the right of the middle
    return float(np.clip(0.35 * aim, -40.0, 40.0)), 1.2 * (SPEED - float(telemetry["speed"]))


def answer(simulator) -> None:
    """Talk with one simulator until it hangs up."""

    def emit(event: str, data: dict[str, str]) -> None:
        simulator.send("42" + json.dumps([event, data]))

    simulator.send('0{"sid":"bot","upgrades":[],"pingInterval":25000,"pingTimeout":60000}')
    emit("steer", {"steering_angle": "0", "throttle": "0"})
    simulator.send("40")
    for text in simulator:
        if text == "2":
            simulator.send("3")
        elif text.startswith('42["telemetry"'):
            telemetry = json.loads(text[2:])[1]
            if telemetry:
                steer, throttle = decide(telemetry)
                emit("steer", {"steering_angle": f"{steer:.6f}", "throttle": f"{throttle:.6f}"})
            else:  # somebody drives by hand
                emit("manual", {})


def handle(simulator) -> None:
    """Talk; a simulator that leaves is no error."""
    try:
        answer(simulator)
    except ConnectionClosed:
        print("the simulator has left")


if __name__ == "__main__":
    port = int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("PORT", "4567"))
    with serve(handle, "127.0.0.1", port, max_size=None) as server:
        print(f"waiting for the simulator on port {port}", flush=True)
        server.serve_forever()
