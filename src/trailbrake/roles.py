"""The five roles of the system (Driver, Link, Host, Plant, Tap) and the optional abilities that each may have.

One tick: the loop reads the newest state from a Link, the Driver computes controls, the supervisor limits them, the
loop writes them to the Link and passes both to the Taps. At the other end of the wire a Host takes controls from its
clients, steps a Plant and publishes the Plant's state.

An optional ability is a protocol of its own: code that can use it tests `isinstance(part, HasCamera)` once, before a
loop. Time is an argument (`now`, s, any steady clock); nothing here reads a clock.

`LastResort`: bytes in shared memory that brake a car, or give a simulation its own pace back.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.params import CarParams
from trailbrake.laps import LapRecord
from trailbrake.planning.course import Course
from trailbrake.race_control import RaceControl
from trailbrake.state import CarState, Controls, Signal, SimCommand
from trailbrake.tracks.track import Track


class LastResort(NamedTuple):
    """What another process writes when the one that drove a car has died.

    Attributes:
        page: path of the page; on Windows the name of the mapping.
        offset: where to write.
        data: what.
        restores: whether it ends what a client can request of the whole simulation, as a pause. It is written only if
            the page has changed since the drive began; if there was one before, what that held is written.
    """

    page: str
    offset: int
    data: bytes
    restores: bool = False


# --- Driver


@runtime_checkable
class Driver(Protocol):
    """Computes controls from states. A plain function of its inputs: no sockets, threads or clocks."""

    NEEDS: frozenset[str]  # names of `state.tables.STATE_FIELDS`, and of signals, without which it cannot drive

    def reset(self, course: Course) -> None:
        """Prepare a drive from rest on `course`.

        Where the wire supplies no position, or a live simulator's road is not known, `course` is an `UnmappedCourse`:
        it has no track, and perhaps no car.
        """

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for a state. `dt` (s) is simulator time since the last call, 0 on the first."""


@runtime_checkable
class PlansOnCourse(Protocol):
    """A driver that cannot drive without a road, or without a model of the car.

    A driver without this attribute needs neither, or its `reset` raises the UsageError of the course.

    Attributes:
        COURSE_NEEDS: "track", "car" or both: what its `reset` reads from the course.
    """

    COURSE_NEEDS: frozenset[str]


@runtime_checkable
class StickDriven(Protocol):
    """A driver whose steer may be the position of a pad's stick, which games turn into less of the lock at speed."""

    STICK: bool


@runtime_checkable
class HandDriven(Protocol):
    """A driver that a person drives from the live page.

    Attributes:
        hands: returns what the person's keys or stick say, None while the page is silent; the live page sets it.
    """

    hands: Callable[[], Any] | None


@runtime_checkable
class HasGains(Protocol):
    """A driver that keeps its gains, an instance of its class's `Gains`."""

    gains: object


@runtime_checkable
class Tunable(Protocol):
    """A driver's class whose gains `trailbrake tune` can search: `Gains` is a frozen dataclass of `quantity` fields."""

    Gains: type


@runtime_checkable
class SendsCommands(Protocol):
    """A driver that requests more than driving, by `Controls.command`.

    Attributes:
        COMMANDS: names of `state.commands.COMMAND_FIELDS` that it may send; checked before the drive.
    """

    COMMANDS: frozenset[str]


@runtime_checkable
class SendsCustomValues(Protocol):
    """A driver that sends free values, by `Controls.custom`.

    Attributes:
        CUSTOM: how many.
    """

    CUSTOM: int


@runtime_checkable
class KeepsMemory(Protocol):
    """A driver that learns while it drives, and can take up in another drive what it has learned.

    Attributes:
        learns: whether it learns in this drive; if not, `--memory` is refused.
    """

    learns: bool

    def export_memory(self) -> dict[str, Any]:
        """Return what has been learned, as JSON values. Called once, at the end of a drive."""

    def import_memory(self, content: dict[str, Any], where: str) -> None:
        """Take up what `export_memory` returned; called after `reset`, for the same car and road.

        Raises:
            DataError: it does not fit; `where` names the file.
        """


@runtime_checkable
class UsesKerbs(Protocol):
    """A driver that holds its line within decimetres: a drive plans a line whose outer wheels run on the kerbs.

    Attributes:
        uses_kerbs: whether it does.
    """

    uses_kerbs: bool


@runtime_checkable
class FollowsMinimumTimeLine(Protocol):
    """A driver that follows the line which `trailbrake line` has kept for the car and the track, where there is one.

    Others get the line that they plan, so that a kept line changes none of their drives.

    Attributes:
        follows_minimum_time_line: whether it does.
    """

    follows_minimum_time_line: bool


@runtime_checkable
class HasDebugValues(Protocol):
    """A driver that shows internal values on the live page; see `dashboard`."""

    debug: Any


# --- Link

LONGEST_LOSS_S = 60.0  # s of simulator time; a longer gap is no loss of samples


@dataclass(slots=True)
class LinkCounters:
    """What went over the wire, counted at the link's end.

    A gap of more than LONGEST_LOSS_S of simulator time is a pause or a changed clock: it counts as a resync, not as
    lost samples.
    """

    received: int = 0  # samples read
    lost: int = 0  # samples that the wire published and the link never read
    stale: int = 0  # times the wire went silent for longer than the stale limit
    torn: int = 0  # reads given up because the writer was in the middle of a sample
    resyncs: int = 0  # times the sequence jumped: backwards at a restart of the other end, or far ahead


@runtime_checkable
class Link(Protocol):
    """The driver's end of a simulator's wire. Made as `simulator.LinkFactory` says."""

    SUPPLIES: frozenset[str]  # names of STATE_FIELDS that read() fills
    ACCEPTS: frozenset[str]  # names of CONTROL_FIELDS and COMMAND_FIELDS that write() and send_command() pass on
    period: float  # s, simulator time between samples
    counters: LinkCounters

    def open(self, now: float) -> None:
        """Take the car and wait for its first sample; SimulatorError if the simulator is missing or refuses."""

    def has_new_sample(self) -> bool:
        """Return whether a sample newer than the last read() is there. Cheap, never blocks."""

    def read(self, now: float) -> CarState:
        """Return the newest sample, with `age`, `sequence` and `phase`. Never blocks."""

    def write(self, controls: Controls) -> None:
        """Send controls that the supervisor has limited."""

    def send_command(self, command: SimCommand) -> None:
        """Send a request that is not driving: pause, restart, teleport, ..."""

    def release(self) -> None:
        """Leave the controls safe: brake on or neutral, as the wire demands."""

    def close(self) -> None:
        """Give the car back and close the wire."""


@runtime_checkable
class Wakeable(Protocol):
    """A Link or a Host that can sleep until a message of the other end arrives."""

    @property
    def waits(self) -> bool:
        """Whether it cannot go on before the next message of the other end."""

    def wait(self, seconds: float) -> None:
        """Sleep until the other end sends something, at most `seconds` of wall time."""


@runtime_checkable
class SafeAfterDeath(Protocol):
    """A Link whose wire keeps what a dead client has written last, and where another process can write in its place."""

    def find_last_resorts(self) -> Sequence[LastResort]:
        """Return what to write, in this order, when this process has died."""


@runtime_checkable
class SignalSource(Protocol):
    """A Link that can fill `CarState.signals`."""

    def select_signals(self, signals: Sequence[Signal]) -> None:
        """Fill `signals`, in this order, in every state from the next one on. Called before `open`."""


@runtime_checkable
class DrawsPlan(Protocol):
    """A Link that can draw in its simulator."""

    def make_drawing(self, course: Course) -> "Tap | None":
        """Return a tap that draws the course's plan while the car drives; None where the live options want none."""


@runtime_checkable
class ObservesSession(Protocol):
    """A Link that takes no car and knows more of the session than its samples have.

    Attributes:
        session_events: what has happened, as lines for the user; the reader removes them.
        last_lap_time: time of the lap that ended at the newest sample, as the simulator shows it, s; NaN without one.
    """

    session_events: deque[str]
    last_lap_time: float


@runtime_checkable
class PacedLink(Protocol):
    """A Link that can change how much wall time a step of its simulator takes."""

    def set_step_time(self, seconds: float) -> float:
        """Request that a step takes `seconds` of wall time; return what it will take: never less, in s.

        More than the simulator's period makes it wait, less lets its time go faster than real time.
        """


@runtime_checkable
class LeavesUnchanged(Protocol):
    """A Link whose messages can leave a control as it is.

    Attributes:
        LEAVES: names of CONTROL_FIELDS that NaN leaves unchanged, besides those of which the type `Controls` says so.
    """

    LEAVES: frozenset[str]


@runtime_checkable
class CustomChannels(Protocol):
    """A Link with free values in its messages.

    Attributes:
        custom: the values of the newest message.
        custom_out: the values that go with every answer; their number never changes.
    """

    custom: tuple[float, ...]
    custom_out: tuple[float, ...]


# --- Plant


class RoadOutline(NamedTuple):
    """A road as recordings and maps show it: lines of points (n, 2) in m, world axes."""

    centre: NDArray[np.float64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    closed: bool  # whether it is a circuit


@runtime_checkable
class Plant(Protocol):
    """An embedded world: cars on a road. `period` (s) is the simulator time of one step."""

    period: float

    def reset(self, seed: int) -> None:
        """Put every car at rest on the grid and start the clocks at 0."""

    def step(self, controls: Sequence[Controls]) -> None:
        """Advance all cars by one period; `controls[i]` is for car i."""

    def car_state(self, car: int) -> CarState:
        """Return a new CarState of car `car`, `lap_*`, `contacts` and `sequence` included."""

    def execute_command(self, car: int, command: SimCommand) -> None:
        """Carry out teleport, to_pits (back to the start line, repaired) or restart for car `car`."""

    def laps(self, car: int) -> list[LapRecord]:
        """Return the laps that car `car` has finished since the start or its restart."""

    def counters(self) -> Mapping[str, Any]:
        """Return what no client of the wire counts, as JSON values: `car_contacts` with each other, their `race`."""

    def road_outline(self) -> RoadOutline:
        """Return the road that the cars drive on."""


@runtime_checkable
class RoadPlant(Plant, Protocol):
    """A Plant of full-size cars on a Track."""

    @property
    def track(self) -> Track:
        """The track."""

    @property
    def cars(self) -> Sequence[CarParams]:
        """The cars' parameters."""


@runtime_checkable
class HasRaceControl(Protocol):
    """A Plant whose cars race each other; `race` may be another after a restart."""

    race: RaceControl


@runtime_checkable
class HasCamera(Protocol):
    """A Plant whose first car carries a camera that a client may change."""

    def set_camera(self, camera: dict[str, Any]) -> None:
        """Change the camera: fields of `world.pinhole_camera.PinholeCamera` by name; UsageError for a wrong one."""


# --- Host


@runtime_checkable
class Host(Protocol):
    """The simulator's end of a wire, in front of a Plant. Made as `simulator.HostFactory` says."""

    def open(self, now: float) -> None:
        """Open the wire; SimulatorError if another host has it."""

    def tick(self, now: float) -> None:
        """Take the clients' newest controls, step the plant once, publish."""

    def read_counters(self) -> dict[str, Any]:
        """Return messages and bytes in and out, rejected, late."""

    def close(self) -> None:
        """Close the wire and remove what open() made."""


@runtime_checkable
class RaceHost(Protocol):
    """A Host whose session ends by itself: `is_done` when the laps of its options are driven."""

    is_done: bool


@runtime_checkable
class ClientPaced(Protocol):
    """A Host whose clients may change the session's pace."""

    @property
    def wall_period(self) -> float:
        """Wall time, s, that the next tick shall take in real time."""


@runtime_checkable
class AnswersLate(Protocol):
    """A Host's class whose protocol puts an answer in force later than with the next tick."""

    @staticmethod
    def answer_delay(options: Any) -> float:
        """Return the s of simulator time from a sample until its answer is in force, with these serve options."""


@runtime_checkable
class TakesStick(Protocol):
    """A Host's class whose steer can be the position of a pad's stick instead of a share of the lock."""

    @staticmethod
    def stick_options(options: Any) -> Any:
        """Return the serve options with which it is."""


@runtime_checkable
class Described(Protocol):
    """A Host of which `serve` prints more than track and car."""

    @property
    def description(self) -> str:
        """What its options mean, for the user."""


@runtime_checkable
class TrafficHost(Protocol):
    """A Host that can drive the cars which have no client.

    Attributes:
        traffic_driver: name or FILE.py of their driver; "" = they hold the brake.
    """

    traffic_driver: str

    def set_traffic(self, drivers: Sequence[Callable[[CarState, float], Controls]]) -> None:
        """Drive cars without a client by `drivers`, one per car: each computes controls from a state and dt (s)."""


# --- Tap and live session


@runtime_checkable
class TickObserver(Protocol):
    """Receives every tick and changes nothing."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Receive one tick. Must be quick; work that may block belongs to a thread of the observer's own."""


class Tap(TickObserver, Protocol):
    """Observes a drive from its start to its end."""

    def start(self, about: dict[str, Any]) -> None:
        """Begin. `about` has sim, driver, track, car, seed, versions (JSON values)."""

    def close(self) -> None:
        """End; flush what is held."""


@dataclass(frozen=True)
class DetectedSession:
    """What `simulator_tools.SessionTool.detect` finds of a live session.

    Attributes:
        track: the road of the game's session; None where it was not wanted.
        car: a model of the car to drive; None where it was not wanted.
        live: the live options to drive by.
    """

    track: Track | None
    car: CarParams | None
    live: Any
