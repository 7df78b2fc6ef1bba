"""A simulator from outside the package: one line of JSON per UDP datagram. docs/add-a-simulator.md walks through it.

The simulator listens on a UDP port. A client sends {"kind": "hello"} until it receives a state, then one
{"kind": "drive", ...} for each state, and {"kind": "restart"} to go back to the start. Angles on this wire are in
degrees clockwise from the y axis, speeds in km/h, everything sideways is positive to the right.
"""

import json
import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from trailbrake.errors import SimulatorError, WireError
from trailbrake.roles import LinkCounters
from trailbrake.simulator import Simulator
from trailbrake.state import CarState, Controls, Phase, SimCommand
from trailbrake.transport import rendezvous
from trailbrake.transport.json_values import decode_json, parse_numbers, require_number, require_object
from trailbrake.transport.udp import UdpSocket, parse_address
from trailbrake.units import KMH, wrap_angle

NAME, PORT, PERIOD, STALE_AFTER_S = "newline_json", 9310, 0.01, 0.5
SUPPLIES = frozenset({"time", "sequence", "age", "phase", "x", "y", "yaw", "speed", "velocity_x", "velocity_y",
                      "acceleration_y", "yaw_rate", "steer", "gear", "lap"})  # fmt: skip
ACCEPTS = frozenset({"steer", "throttle", "brake", "gear", "restart"})


@dataclass(frozen=True)
class LiveOptions:
    """Options of `--live`.

    Attributes:
        connect: where the simulator listens, HOST:PORT.
        wait: seconds to wait for it.
    """

    connect: str = f"127.0.0.1:{PORT}"
    wait: float = 10.0


@dataclass(frozen=True)
class ServeOptions:
    """Options of `serve`.

    Attributes:
        listen: where clients send, HOST:PORT.
        pace: `real`: the world does not wait for the client; `lockstep`: it advances one step per "drive".
    """

    listen: str = f"127.0.0.1:{PORT}"
    pace: Literal["real", "lockstep"] = "real"


# --- The wire's bytes, units and axes


def encode_message(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def decode_message(data: bytes) -> dict[str, Any]:
    """Return the message in a datagram; WireError where it holds none."""
    return require_object(decode_json(data.decode(errors="replace")), NAME)


def read_numbers(message: dict[str, Any], *names: str) -> list[float]:
    """Return numbers of a message; WireError where one is missing, infinite or no number."""
    return [require_number(message.get(name), name) for name in names]


def state_to_wire(state: CarState) -> dict[str, Any]:
    return {
        "kind": "state", "time": state.time, "position": [state.x, state.y], "heading": 90.0 - math.degrees(state.yaw),
        "speed": state.speed / KMH, "velocity": [state.velocity_x, -state.velocity_y], "steer": -state.steer,
        "lateral": -state.acceleration_y, "turning": -math.degrees(state.yaw_rate), "gear": state.gear,
        "lap": state.lap,
    }  # fmt: skip


def state_from_wire(message: dict[str, Any]) -> CarState:
    """Return the state in a message; WireError where it holds none."""
    motion = parse_numbers(message.get("position"), "position") + parse_numbers(message.get("velocity"), "velocity")
    if len(motion) != 4:
        raise WireError("expected two numbers each", where="position, velocity", got=str(motion)[:40])
    x, y, forward, right = motion
    time, heading, speed, lateral, turning, steer, gear, lap = read_numbers(
        message, "time", "heading", "speed", "lateral", "turning", "steer", "gear", "lap"
    )
    return CarState(
        time=time, phase=Phase.DRIVING, x=x, y=y, yaw=wrap_angle(math.radians(90.0 - heading)), speed=speed * KMH,
        velocity_x=forward, velocity_y=-right, acceleration_y=-lateral, yaw_rate=-math.radians(turning), steer=-steer,
        gear=int(gear), lap=int(lap),
    )  # fmt: skip


def controls_to_wire(controls: Controls) -> dict[str, Any]:
    return {"kind": "drive", "steer": -controls.steer, "throttle": controls.throttle, "brake": controls.brake,
            "gear": controls.gear}  # fmt: skip


def controls_from_wire(message: dict[str, Any]) -> Controls:
    """Return the controls in a message, within their ranges; WireError where it holds none."""
    steer, throttle, brake = read_numbers(message, "steer", "throttle", "brake")
    gear = None if message.get("gear") is None else int(require_number(message["gear"], "gear"))
    return Controls(-max(-1.0, min(steer, 1.0)), max(0.0, min(throttle, 1.0)), max(0.0, min(brake, 1.0)), gear=gear)


# --- The two ends


class Link:
    """The driver's end: a client of the simulator."""

    SUPPLIES, ACCEPTS, period = SUPPLIES, ACCEPTS, PERIOD

    def __init__(self, options: LiveOptions, *, doors=None, idle=None):
        self._options, self._doors, self._idle = options, doors, idle
        self.counters = LinkCounters()
        self._state, self._is_fresh, self._arrived_at = CarState(phase=Phase.LOST, sequence=-1), False, 0.0

    def open(self, now: float) -> None:
        """Say hello until the first state arrives."""
        self._socket = UdpSocket(("0.0.0.0" if self._doors is None else "127.0.0.1", 0), where="--connect")
        port = None if self._doors is None else rendezvous.lookup_port(self._doors, NAME)
        self._address = ("127.0.0.1", port) if port else parse_address(self._options.connect, where="--connect")
        deadline, self._arrived_at = now + self._options.wait, now
        while self._idle is not None and not self.has_new_sample():
            if now > deadline:
                self.close()
                raise SimulatorError("no simulator answers", where=self._options.connect, hint=f"serve {NAME}?")
            self._send({"kind": "hello"})
            now = self._idle()

    def _send(self, message: dict[str, Any]) -> None:
        self._socket.send(encode_message(message), self._address)

    def has_new_sample(self) -> bool:
        """Keep the newest state that has arrived."""
        while (data := self._socket.receive_data()) is not None:
            try:
                state = state_from_wire(decode_message(data))
            except WireError:
                self.counters.torn += 1
                continue
            self.counters.resyncs += state.time < self._state.time
            self._state, self._is_fresh = replace(state, sequence=self._state.sequence + 1), True
            self.counters.received += 1
        return self._is_fresh

    def read(self, now: float) -> CarState:
        """Return a copy: what the loop and the driver do with it is theirs."""
        if self.has_new_sample():
            self._is_fresh, self._arrived_at = False, now
        state = replace(self._state, age=now - self._arrived_at)
        if state.age > STALE_AFTER_S:
            state.phase = Phase.LOST
        return state

    def write(self, controls: Controls) -> None:
        self._send(controls_to_wire(controls))

    def send_command(self, command: SimCommand) -> None:
        """Pass a restart on; the wire has no other command."""
        if command.restart:
            self._send({"kind": "restart"})

    def release(self) -> None:
        """Leave the car with the brake on."""
        self.write(Controls(brake=1.0))

    def close(self) -> None:
        self._socket.close()


class Host:
    """The simulator's end, in front of an embedded world: the newest client drives the first car."""

    def __init__(self, plant, options: ServeOptions, *, doors=None):
        self._plant, self._options, self._doors = plant, options, doors
        self._client, self._controls, self._counts = None, Controls(brake=1.0), {"messages_in": 0, "rejected": 0}

    def open(self, now: float) -> None:
        """Listen; behind private doors on any free port."""
        bind = ("127.0.0.1", 0) if self._doors is not None else parse_address(self._options.listen, where="--listen")
        self._socket = UdpSocket(bind, where="--listen")
        if self._doors is not None:
            rendezvous.publish_port(self._doors, NAME, self._socket.port)

    def tick(self, now: float) -> None:
        """Apply the client's messages, step the world and send its state."""
        must_wait, greeted = self._options.pace == "lockstep", False
        while (received := self._socket.receive()) is not None:
            self._counts["messages_in"] += 1
            try:
                message = decode_message(received[0])
                if message.get("kind") == "drive":
                    self._controls, must_wait = controls_from_wire(message), False
                elif message.get("kind") == "restart":
                    self._plant.execute_command(0, SimCommand(restart=True))
                elif message.get("kind") != "hello":
                    raise WireError("unknown message", where="kind", got=str(message.get("kind"))[:40])
                self._client, greeted = received[1], greeted or message["kind"] == "hello"
            except WireError:
                self._counts["rejected"] += 1
        if not must_wait:
            self._plant.step([self._controls])
        if self._client is not None and (greeted or not must_wait):
            self._socket.send(encode_message(state_to_wire(self._plant.car_state(0))), self._client)

    def read_counters(self) -> dict[str, Any]:
        return dict(self._counts)

    def close(self) -> None:
        self._socket.close()


SIMULATOR = Simulator(
    name=NAME,
    title="Newline JSON over UDP (example)",
    supplies=SUPPLIES,
    accepts=ACCEPTS,
    live_options=LiveOptions,
    serve_options=ServeOptions,
    link=Link,
    host=Host,
    period=lambda options: PERIOD,
    pace=lambda options: "max" if options.pace == "lockstep" else "real",
    embedded_options=lambda live, cars: ServeOptions(pace="lockstep"),
)
