"""A program of a user: steps a live car at full throttle, and does what its standard input says between two steps."""

import ctypes
import json
import math
import os
import signal
import sys
import threading
import time

STALL_S = 2.0
NAN_S = 1.0
words = []


def read_words():
    for line in sys.stdin:
        words.append(line.strip())  # noqa: PERF401 - one by one, as they come


def keep_interpreter():
    """Keep the interpreter's lock in a C call, as an extension does."""
    if sys.platform == "win32":
        ctypes.PyDLL("kernel32").Sleep(int(1000 * STALL_S))
    else:
        ctypes.PyDLL(None).sleep(int(STALL_S))


STALLS = {
    "sleeps": lambda: time.sleep(STALL_S),
    "computes": lambda: compute(time.monotonic() + STALL_S),
    "stopped": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "keeps the lock": keep_interpreter,
}


def compute(until):
    while time.monotonic() < until:
        pass


def say(value):
    print(value, flush=True)


def run(step, spoil):
    """Step until the input says otherwise; `step(throttle)`, and `spoil()` steps with NaN."""
    while True:
        word = words.pop(0) if words else ""
        if word in STALLS:
            say(time.monotonic())
            STALLS[word]()
            say(time.monotonic())
        elif word == "NaN":
            say(time.monotonic())
            until = time.monotonic() + NAN_S
            while time.monotonic() < until:
                spoil()
            say(time.monotonic())
        elif word == "leave":
            say(time.monotonic())
            return
        elif word == "die":
            say(time.monotonic())
            os.kill(os.getpid(), signal.SIGKILL)
        step(1.0)


def run_connect(plan):
    from trailbrake import Controls, connect

    throttle = plan.get("throttle", 1.0)
    options = {name: plan[name] for name in ("brakes_at_end", "signals", "camera", "pace") if name in plan}
    with connect(plan["sim"], live=True, **plan["live_options"], **options) as sim:
        run(
            lambda share: sim.step(Controls(throttle=share * throttle, gear=None)),
            lambda: sim.step(Controls(steer=math.nan, throttle=math.nan)),
        )


def run_environment(plan):
    import gymnasium

    import trailbrake.env.gym  # noqa: F401 - registers

    env = gymnasium.make(
        "trailbrake/Link-v0", sim=plan["sim"], live=True, track="proving_ground", car="hatchback", period=0.05,
        rewards=("progress",), ends=("backward",), live_options=plan["live_options"], disable_env_checker=True,
    ).unwrapped  # fmt: skip
    env.reset(seed=1)

    def spoil():
        try:
            env.step([math.nan, math.nan])
        except Exception as error:
            print(f"refused: {error}", file=sys.stderr, flush=True)
            time.sleep(1.0)

    run(lambda share: env.step([0.0, share]), spoil)
    env.close()


if __name__ == "__main__":
    threading.Thread(target=read_words, daemon=True).start()
    wanted = json.loads(sys.argv[1])
    (run_connect if wanted["api"] == "connect" else run_environment)(wanted)
    say("closed")
