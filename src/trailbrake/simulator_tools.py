"""The tools that a simulator may bring: what `doctor`, `verify`, `sniff`, `sim`, `record`, `replay` and others call.

A tool's module declares one of these, as `DOCTOR = DoctorTool(DoctorOptions, examine)`. `options` is always a
dataclass whose fields have defaults: the command line makes flags of them, and its docstring is the command's help.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from trailbrake.findings import Finding, WireField
    from trailbrake.roles import DetectedSession
    from trailbrake.state import CarState, Controls, Signal, SimCommand
    from trailbrake.wire_checks import Check

Say = Callable[[str], None]  # takes a line for the user
Idle = Callable[[], float]  # lets a little time pass and returns the new `now`
Doors: TypeAlias = str | os.PathLike[str] | None  # where both ends of a private wire meet; None = public addresses
Options = TypeVar("Options")
LiveIn = TypeVar("LiveIn", contravariant=True)


@dataclass(frozen=True)
class DoctorTool(Generic[Options]):
    """`doctor NAME`: `examine(options)` yields findings as it makes them."""

    options: type[Options]
    examine: "Callable[[Options], Iterator[Finding]]"


class Assumption(NamedTuple):
    """Something of a wire that our code takes for granted because the published documents leave it open.

    Attributes:
        id: SIMULATOR-WORD-WORD; it stays when the text changes.
        statement: what is true if we are right.
        source: what the documents leave open, and what speaks for us.
        symptom: what a user sees if it is not true.
        check: decides it from the samples of a drive; a text says why a drive of some minutes cannot.
    """

    id: str
    statement: str
    source: str
    symptom: str
    check: "Check | str"


class VerifyStep(NamedTuple):
    """A step of the drive of `verify`.

    Attributes:
        name: for the checks; steps may share one.
        text: for the user.
        seconds: how long it takes.
        answer: returns the controls for a state.
        command: returns what is requested when it begins; None: nothing.
    """

    name: str
    text: str
    seconds: float
    answer: "Callable[[CarState], Controls]"
    command: "Callable[[CarState], SimCommand] | None" = None


@dataclass(frozen=True)
class VerifyTool:
    """`verify NAME`: drives a few steps and checks what was assumed.

    Attributes:
        assumptions: of this wire.
        pace: m/s, at which the car is driven.
        throttle: largest one.
        steer: in the bends, share of full lock.
        place: where the user puts the car before.
        signals: names or patterns of those that the checks read.
        steps: of this simulator alone, after the others; the car stands before and after them.
    """

    assumptions: tuple[Assumption, ...]
    pace: float = 4.0
    throttle: float = 0.4
    steer: float = 0.5
    place: str = "a straight, flat road, 60 m long and 10 m wide"
    signals: tuple[str, ...] = ()
    steps: tuple[VerifyStep, ...] = ()


@dataclass(frozen=True)
class SetupTool(Generic[Options]):
    """`setup NAME`: `run(options)` makes the game ready and yields a line for each thing that it did."""

    options: type[Options]
    run: Callable[[Options], Iterator[str]]


@dataclass(frozen=True)
class SniffTool(Generic[Options]):
    """`sniff NAME`: `watch(options)` is a context manager; its value returns the wire's newest fields."""

    options: type[Options]
    watch: "Callable[[Options], AbstractContextManager[Callable[[], list[WireField]]]]"


@dataclass(frozen=True)
class ProbeTool(Generic[Options]):
    """`probe NAME`: `run(options, say)` measures the wire and returns what it measured."""

    options: type[Options]
    run: Callable[[Options, Say], dict[str, Any]]


@dataclass(frozen=True)
class ControlTool(Generic[Options]):
    """`sim NAME ACTION`: `send(command, options, idle, say)` commands a running simulator."""

    options: type[Options]
    send: "Callable[[SimCommand, Options, Idle, Say], None]"


class RecordOptions(Protocol):
    """What `record` reads of all options.

    Attributes:
        verbose: whether events are printed too.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    verbose: bool


@runtime_checkable
class RawRecordOptions(RecordOptions, Protocol):
    """What `record` reads of a recorder's options.

    Attributes:
        raw: file for every message as it came; `record` chooses one where it is None.
    """

    raw: Path | None


class TableSettings(Protocol):
    """What `record` reads of a recorder's settings: the table's file; None = no table."""

    @property
    def output_filename(self) -> Path | None: ...  # noqa: D102


class RecordingSession(Protocol):
    """A recording under way; a context manager. It writes the simulator's own files.

    Attributes:
        ended: whether there is nothing more to come.
        warnings: lines for the user; the reader removes them.
        events: lines on what happened in the game; the reader removes them.
        signals: those that every state carries.
    """

    ended: bool
    warnings: deque[str]
    events: deque[str]
    signals: "tuple[Signal, ...]"

    def __enter__(self) -> "RecordingSession": ...

    def __exit__(self, *error: object) -> None: ...

    def wait(self, seconds: float) -> None:
        """Wait for data, at most `seconds`."""

    def record_available(self, now: float) -> "Iterator[tuple[CarState, float]]":
        """Write what has come; yield each new sample with the time of the last lap that it shows, s; NaN: none."""

    def summary(self) -> dict[str, Any]:
        """Return counts and the names of the files."""


Recorder = TypeVar("Recorder", bound=RawRecordOptions)
Settings = TypeVar("Settings", bound=TableSettings)


@dataclass(frozen=True)
class RecorderTool(Generic[Recorder, Settings]):
    """`record --sim NAME` where the wire has files of its own: tables, or messages as they came.

    Attributes:
        options: class of the options.
        suffix: of the files that keep every message as it came.
        build_settings: returns the table's settings from the options, the port (None: as the options say) and the
            table's file (None: none).
        open_session: starts a recording; the path is a recorded session to read instead of the wire.
    """

    options: type[Recorder]
    suffix: str
    build_settings: Callable[[Recorder, int | None, Path | None], Settings]
    open_session: Callable[[Recorder, Settings, Path | None], RecordingSession]


@dataclass(frozen=True)
class LinkRecorder:
    """`record --sim NAME` through the link of `Simulator.watch_options`.

    Attributes:
        options: class of the options: `verbose`, `signals` where the link has any, and live options, by their names.
    """

    options: type[RecordOptions]


AnyRecorder: TypeAlias = RecorderTool[Any, Any] | LinkRecorder


@dataclass(slots=True)
class ReplayResult:
    """What a replay sent: datagrams, bytes, datagrams that the system did not take, s of the recording; a note."""

    datagrams: int = 0
    bytes: int = 0
    unsent: int = 0
    recorded_s: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class ReplayTool:
    """`replay FILE`.

    Attributes:
        is_recorded_session: whether a file is a recording of this simulator's messages.
        parse_pace: returns the factor in the text of `--pace`; infinity for "max".
        replay: sends the file's datagrams to an address at a pace until the fourth argument returns True; the fifth is
            the rate (1/s) of a table without times, 0 for the simulator's.
    """

    is_recorded_session: Callable[[Path], bool]
    parse_pace: Callable[[str], float]
    replay: Callable[[Path, tuple[str, int], float, Callable[[], bool], float], ReplayResult]


class SessionDetector(Protocol[LiveIn]):
    """Finds out the track and the car of a live session."""

    def __call__(self, options: LiveIn, *, track: bool, car: bool, idle: Idle, say: Say) -> "DetectedSession":
        """Wait for the session; return its track and car as far as they are wanted.

        Args:
            options: the live options.
            track: whether the track is wanted.
            car: whether the car is wanted.
            idle: lets time pass and returns the new `now`.
            say: takes lines for the user.
        """


@dataclass(frozen=True)
class SessionTool(Generic[LiveIn]):
    """What a live drive learns from the game itself.

    Attributes:
        detect: finds the track and the car before the drive.
        report: returns what the game says of the session after the drive.
    """

    detect: SessionDetector[LiveIn]
    report: Callable[[], dict[str, Any]]


TOOL_TYPES: dict[str, tuple[type, ...]] = {  # by the names in `Simulator.tools`
    "doctor": (DoctorTool,), "setup": (SetupTool,), "sniff": (SniffTool,), "probe": (ProbeTool,),
    "control": (ControlTool,), "recorder": (RecorderTool, LinkRecorder), "replay": (ReplayTool,),
    "session": (SessionTool,), "verify": (VerifyTool,),
}  # fmt: skip
