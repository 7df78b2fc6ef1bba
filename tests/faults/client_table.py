"""The declared outcomes of our client, `drive --live`: one for each fault, and what differs by wire."""

from dataclasses import replace

from faults.outcomes import CAMERA_FAULTS, DRIVER_FAULTS, RAISING_FAULTS, SHIM_FAULTS, SIGNALS, Outcome, declare, never

ON = Outcome(recording="whole")
SILENT = "the simulator has gone silent"
NO_ORDER = never("a page has one content, no order")
TCP_KEEPS = never("TCP delivers every byte once and in order")
NO_WIDTH = never("a clock in decimal text has no width to overflow")

# The car stands where the driver fails; a car by Udacity's pedal alone needs longer than one with brakes.
STOP = Outcome(wire_says="brake", safe_s=1.0, car="stands", car_s=8.0, exit_code=1, line="driver", recording="whole")
HANG = Outcome(wire_says="brake", safe_s=1.0, car="stands", car_s=10.0, exit_code=1, line="driver", recording="whole")
KILLED = Outcome(wire_says="nothing", safe_s=0.5, car="stands", car_s=8.0, exit_code=-9, recording="to the last second")
# The car is braked for while its driver cannot see, and drives on.
BLIND = Outcome(wire_says="brake, then let go", safe_s=1.0, car_s=4.0, recording="whole")
NO_CAMERAS = ("assetto", "forza", "beamng", "udacity_pid", "udacity_mpc")
BLIND_LINES = dict(
    zip(CAMERA_FAULTS, ("cannot be decoded", "the same picture", "cannot be decoded|silent"), strict=True)
)
ERRORS = ("ZeroDivisionError", "KeyboardInterrupt", "CancelledError", "GeneratorExit", "MuteError", "Unusual")
RAISED = {
    fault: rf"raised {error} at .*faulty_driver\.py:\d+" for fault, error in zip(RAISING_FAULTS, ERRORS, strict=True)
}
ABANDONED = {"forza": {"car": "rolls out"}, "beamng": {"car": "waits"}, "streams": {"car": "waits"}}
PEDAL = {"wire_says": "no throttle", "car_s": 24.0}  # Udacity's simulators: below 0 the pedal reverses
SLOW = {"udacity": PEDAL, "udacity_pid": PEDAL, "udacity_mpc": PEDAL}

CLIENT = {
    "peer killed in mid-corner": declare(
        Outcome(wire_says="brake", safe_s=1.0, car="waits", car_s=5.0, exit_code=0, line=SILENT, recording="whole"),
        forza={"wire_says": "brake, then let go"}, beamng={"wire_says": "nothing"}, streams={"wire_says": "nothing"},
    ),
    "peer gone for a minute": declare(
        Outcome(wire_says="brake or nothing", safe_s=1.0, car="waits", car_s=75.0, exit_code=1,
                line="went silent for 60 s", recording="whole"),
        forza={"wire_says": "brake, then let go"},
    ),
    "peer restarted": declare(
        Outcome(wire_says="nothing", car_s=15.0, line="the simulator is back", recording="whole")
    ),
    "telemetry frozen 0.2 s": declare(ON, beamng={"car_s": 4.0}),
    "telemetry frozen 5 s": declare(
        Outcome(wire_says="brake", safe_s=1.0, car_s=4.0, line=SILENT, recording="whole"),
        forza={"wire_says": "brake, then let go"}, beamng={"wire_says": "nothing"},
        events={"wire_says": "brake, then let go", "safe_s": 1.6}, donkeycar={"safe_s": 1.6},
    ),
    "20 % loss": declare(ON, beamng={"car_s": 5.0}),
    "duplicates": declare(ON, streams=TCP_KEEPS),
    "reordering": declare(ON, assetto=NO_ORDER, beamng={"car_s": 5.0}, streams=TCP_KEEPS),
    "truncated": declare(ON, beamng={"car_s": 5.0}),
    "garbage": declare(ON, beamng={"car_s": 5.0}),
    "NaN": declare(ON, beamng={"car_s": 5.0}),
    "infinity": declare(ON, beamng={"car_s": 5.0}),
    "clock jumps forward": declare(ON, beamng={"car_s": 6.0}),
    "clock jumps back": declare(ON, beamng={"car_s": 6.0}),
    "clock wraps": declare(ON, beamng=never("ids are doubles, exact for a million years"), streams=NO_WIDTH),
    **{
        fault: declare(replace(BLIND, line=line), **dict.fromkeys(NO_CAMERAS, never("no camera on this wire")))
        for fault, line in BLIND_LINES.items()
    },
    **{fault: declare(replace(STOP, line=RAISED[fault]), **SLOW) for fault in RAISING_FAULTS},
    **{fault: declare(HANG, **SLOW) for fault in ("driver hangs in sleep", "driver hangs in a loop")},
    # Nothing inside of the process can act: a guard ends it after a second, and the host takes the car.
    "driver hangs in a C call": declare(replace(KILLED, car_s=12.0, line="kept the interpreter"), **ABANDONED),
    **{fault: declare(STOP, **SLOW) for fault in DRIVER_FAULTS if "answers" in fault},
    "second client": declare(Outcome(wire_says="the drive", line="trailbrake: .+", recording="whole")),
    "second host": declare(
        ON, forza={"line": "second sender"}, beamng={"line": "second sender"},
        assetto=never("pages have one writer: a second host is refused, see the host's end"),
        donkeycar=never("the client has called its host, no other can call it"),
    ),
    "machine suspended for 30 s": declare(ON, beamng={"car_s": 8.0}, assetto={"car_s": 8.0}, streams={"car_s": 8.0}),
    "disk full while recording": declare(
        Outcome(wire_says="the drive", line="recording", recording="to the full disk")
    ),
    **{fault: declare(ON) for fault in SHIM_FAULTS},
    **{
        name: declare(
            Outcome(wire_says="brake", safe_s=0.6, car="stands", car_s=8.0, exit_code=0, line="interrupted",
                    recording="whole"), **SLOW
        )
        for name in SIGNALS if name != "SIGKILL"
    },
    "SIGKILL": declare(KILLED, **ABANDONED),
}  # fmt: skip
