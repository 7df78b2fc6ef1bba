"""The five plugs of the system: Driver, Link, Host, Plant, Tap.

One tick, stated once: the loop reads the newest state from a Link, asks the Driver, lets the supervisor
clamp the answer, writes it to the Link, and shows both to the Taps. On the other side a Host takes the
controls from the wire, steps a Plant, and publishes the Plant's state.

Time is an argument (`now`, s, any steady clock); nothing here reads a clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from trailbrake.cars.params import CarParams
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.tracks.track import Track


@runtime_checkable
class Driver(Protocol):
    """Turns states into controls. A plain function of what it was given: no sockets, threads or clocks."""

    NEEDS: frozenset[str]  # names of `state.tables.STATE_FIELDS` without which it cannot drive

    def reset(self, course: Course) -> None:
        """Get ready for a drive from rest on `course`.

        Through a wire that shows no positions `course` is an `Unmapped` one: no car, and no track to ask for.
        """

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state. `dt` (s) is simulator time since the last call, 0 on the first."""


@dataclass(slots=True)
class LinkCounters:
    """What went over the wire, from the link's side."""

    received: int = 0  # samples read
    lost: int = 0  # samples that the wire published and we never saw
    stale: int = 0  # times the wire went silent for longer than the stale limit
    torn: int = 0  # reads given up on because the writer was in the middle of it
    resyncs: int = 0  # times the sequence jumped backwards: a restart at the other end


@runtime_checkable
class Link(Protocol):
    """Our end of a simulator's wire: codec + convert + transport."""

    SUPPLIES: frozenset[str]  # names of STATE_FIELDS that read() fills
    ACCEPTS: frozenset[str]  # names of CONTROL_FIELDS and COMMAND_FIELDS that write() and command() pass on
    period: float  # s, simulator time between samples
    counters: LinkCounters

    def open(self, now: float) -> None:
        """Take the car and wait for its first sample; SimulatorError if it is not there or not to be had.

        Links are made as `Link(options, doors=None, idle=None)`: the simulator's `spec.LiveOptions`; where the
        doors are (None: the public ones); and what lets time pass between looks and returns the new `now`.
        """

    def fresh(self) -> bool:
        """Return whether a sample newer than the last read() is there. Cheap, never blocks."""

    def read(self, now: float) -> CarState:
        """Return the newest sample; `age`, `sequence` and `phase` filled. Never blocks."""

    def write(self, controls: Controls) -> None:
        """Send controls that the supervisor has passed."""

    def command(self, command: SimCommand) -> None:
        """Ask something of the simulator that is not driving."""

    def release(self) -> None:
        """Leave the controls safe: brake on or neutral, as the wire demands."""

    def close(self) -> None:
        """Give the car back and close the doors."""


@runtime_checkable
class Plant(Protocol):
    """A world with cars on a track. `period` (s) is how far one step goes."""

    period: float
    track: Track
    cars: Sequence[CarParams]

    def reset(self, seed: int) -> None:
        """Put every car at rest on the grid and start the clocks at 0."""

    def step(self, controls: Sequence[Controls]) -> None:
        """Advance all cars by one period; `controls[i]` is for car i."""

    def state(self, car: int) -> CarState:
        """Return a fresh CarState of car `car`, `lap_*`, `contacts` and `sequence` included."""

    def command(self, car: int, command: SimCommand) -> None:
        """Carry out teleport, to_pits (back to the start line, repaired) or restart for car `car`."""


@runtime_checkable
class Seeing(Protocol):
    """What a Plant is besides, where its car carries a camera that a client may choose."""

    def aim(self, camera: dict[str, Any]) -> None:
        """Change the camera: fields of `world.camera.view.Camera` by name; UsageError for one that cannot be."""


@runtime_checkable
class Host(Protocol):
    """The simulator's end of a wire in front of a Plant. Made as `Host(plant, options, doors=None)`."""

    def open(self, now: float) -> None:
        """Open the doors; SimulatorError if another host has them."""

    def tick(self, now: float) -> None:
        """Take the clients' newest controls, step the plant once, publish."""

    def counters(self) -> dict[str, Any]:
        """Return messages and bytes in and out, rejected, late."""

    def close(self) -> None:
        """Close the doors and remove what was made."""


@dataclass(frozen=True)
class Surroundings:
    """What a simulator's `live.py` finds out by itself for a live drive; None what was not asked for.

    A simulator's folder may have that module: `survey(options, track=, car=, idle=, say=)` waits for the session and
    returns one of these, and `report()` returns what the game itself says of the session when the drive is over.

    Attributes:
        track: the road that the game's session is on.
        car: a model of the car to drive.
        live: the live options to drive by.
    """

    track: Track | None
    car: CarParams | None
    live: Any


@runtime_checkable
class Tap(Protocol):
    """Looks at every tick and changes nothing."""

    def start(self, about: dict[str, Any]) -> None:
        """Begin. `about` says sim, driver, track, car, seed, versions (JSON-able)."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """See one tick. Must be quick; work that may block belongs to a thread of the tap's own."""

    def close(self) -> None:
        """End; flush what is held."""


@runtime_checkable
class RehearsedLink(Protocol):
    """What a Link is besides, where it may be read in vain, and wants to be before the next sample: decision 18."""

    def rehearse(self, controls: Controls) -> None:
        """Decode the last sample again and encode `controls`, for nothing; do what the next write can be spared."""


@runtime_checkable
class RehearsedDriver(Protocol):
    """What a Driver is besides, where it may be asked in vain before the next sample: decision 18."""

    def rehearse(self, state: CarState, dt: float) -> Controls:
        """Answer as `act` would, and stay as it is. For a driver without lists or objects that change: a copy's act."""


@runtime_checkable
class Coupled(Protocol):
    """What a Link or a Host is besides, where the other end's word can wake it."""

    @property
    def waits(self) -> bool:
        """Whether it cannot go on before the other end has said something."""

    def wait(self, seconds: float) -> None:
        """Let wall time pass until the other end says something, at most `seconds`."""
