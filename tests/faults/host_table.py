"""The declared outcomes of our host, `serve`, with clients of others: one for each fault, and what differs by wire."""

from faults.outcomes import CAMERA_FAULTS, DRIVER_FAULTS, EVENT_WIRES, Outcome, declare, never

ON = Outcome(car="drives on", car_s=3.0)
NO_DRIVER = never("a host has no driver: a client that hangs is a frozen one")
NO_RECORDING = never("a host records nothing")
NO_CLOCK = never("commands of this wire carry no clock")
TCP_KEEPS = never("TCP delivers every byte once and in order")
# Real games do the same: nothing on these wires tells a client that hangs from one that is content.
KEEPS = Outcome(car="keeps the last controls", car_s=3.0)

HOST = {
    "peer killed in mid-corner": declare(
        Outcome(car="waits", car_s=3.0), assetto={"car": "stands", "car_s": 8.0},
        forza={"car": "rolls out", "car_s": 8.0},
    ),
    "peer gone for a minute": declare(never("a host waits for the next client as long as it is let")),
    "peer restarted": declare(Outcome(car="drives on", car_s=20.0)),
    "telemetry frozen 0.2 s": declare(ON),
    "telemetry frozen 5 s": declare(
        KEEPS, forza={"car": "rolls out", "car_s": 4.0}, beamng={"car": "waits", "car_s": 6.0}
    ),
    "20 % loss": declare(ON, beamng={"car_s": 6.0}, streams=TCP_KEEPS),
    "duplicates": declare(ON, streams=TCP_KEEPS),
    "reordering": declare(ON, assetto=never("a page has one content, no order"), beamng={"car_s": 6.0},
                          streams=TCP_KEEPS),
    **{fault: declare(ON, beamng={"car_s": 6.0}) for fault in ("truncated", "garbage")},
    **{
        fault: declare(ON, beamng={"car_s": 6.0}, forza=never("a pad's report has whole numbers alone"))
        for fault in ("NaN", "infinity")
    },
    "clock jumps forward": declare(NO_CLOCK, beamng=Outcome(car="drives on", car_s=6.0)),
    "clock jumps back": declare(NO_CLOCK, beamng=Outcome(car="waits", car_s=6.0)),
    "clock wraps": declare(NO_CLOCK, beamng=never("ids are doubles, exact for a million years")),
    **{fault: declare(never("a host makes the pictures")) for fault in CAMERA_FAULTS},
    **{fault: declare(NO_DRIVER) for fault in DRIVER_FAULTS},
    "second client": declare(
        never("who writes the page drives; our own clients keep apart by a lock, see the client's end"),
        forza=never("the newest report wins, as with two hands on one pad"),
        beamng=never("the game takes commands of any sender, in the order of their ids"),
        donkeycar=Outcome(car="drives on", car_s=3.0),
        **dict.fromkeys(EVENT_WIRES, never("the host calls one agent, nobody can call it")),
    ),
    "second host": declare(
        Outcome(car="drives on", car_s=3.0, line="trailbrake: .+"),
        **dict.fromkeys(EVENT_WIRES, never("hosts call, the agent chooses: see the client's end")),
    ),
    "machine suspended for 30 s": declare(ON, beamng={"car_s": 8.0}),
    "disk full while recording": declare(NO_RECORDING),
    "slow disk": declare(NO_RECORDING),
    "clock of the system set back": declare(ON),
    "Ctrl-C": declare(Outcome(car="waits", car_s=3.0, exit_code=0)),
    **{
        name: declare(Outcome(car="waits", car_s=3.0, exit_code=0))
        for name in ("SIGTERM", "terminal closed", "SIGQUIT")
    },
    "SIGKILL": declare(Outcome(car="drives on", car_s=30.0, exit_code=-9)),
}  # fmt: skip
