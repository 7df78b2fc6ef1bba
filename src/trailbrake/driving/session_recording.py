"""Records what a simulator sends while another program or a person drives, or converts a recorded session of its own.

The simulator's `RecorderTool`, or the link that only watches, yields each new sample; `LapClock` finds its laps.
"""

import math
import platform
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Self

from trailbrake.analysis.report import write_report
from trailbrake.config import recordings_folder
from trailbrake.driving.session.camera_link import PictureSource
from trailbrake.driving.session.drive_setup import choose_camera
from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.laps import LapClock, Rewind
from trailbrake.record.parted_file import ONE_FILE, PartLimits
from trailbrake.record.recorder import Recorder
from trailbrake.record.writer_thread import write_in_thread
from trailbrake.roles import ObservesSession, SignalSource, Wakeable
from trailbrake.simulator import AnySimulator
from trailbrake.simulator_tools import (
    AnyRecorder,
    LinkRecorder,
    RawRecordOptions,
    RecordingSession,
    RecordOptions,
)
from trailbrake.state import CarState, Signal, applied_controls
from trailbrake.state.signals import match_signals
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals
from trailbrake.transport.capture.live_camera import open_live_camera
from trailbrake.transport.udp import parse_address
from trailbrake.version import __version__

_POLL_S = 0.001  # s between looks at a link that cannot sleep until a message comes


def check_files(simulator: AnySimulator, port: int | None, output: Path | None, source: Path | None) -> None:
    """Raise UsageError for a port that the live options do not have, and for a table or a recorded session."""
    if output is not None:
        raise UsageError("this simulator is recorded into no table", where="record", got=str(output),
                         hint="leave OUTPUT out; `trailbrake export` makes a table of the recording")  # fmt: skip
    if port is not None and all(item.name != "listen" for item in fields(simulator.live_options)):
        raise UsageError("this simulator is recorded from no port", where="record", got=str(port),
                         hint="leave PORT out")  # fmt: skip
    if source is not None:
        raise UsageError("there are no files of this simulator's messages", where="--from", got=str(source),
                         hint="--live records the game; `trailbrake report` reads a recording")  # fmt: skip


class LinkRecordingSession:
    """A recording in progress; a context manager.

    Args:
        simulator: whose wire; it has `watch_options`.
        options: of its LinkRecorder.
        port: to listen on, None: as the options say.

    Attributes:
        ended: False: a wire has no end.
        warnings: lines for the user; the reader removes them.
        events: lines on what happened in the game; the reader removes them.
        signals: those that every state carries.

    Raises:
        DataError: the simulator has no such options.
        UsageError: it has no signal of a wanted name.
    """

    def __init__(self, simulator: AnySimulator, options: RecordOptions, port: int | None = None) -> None:
        if simulator.watch_options is None:
            raise DataError("a LinkRecorder needs watch_options", where=simulator.name)
        given = asdict(options)
        known = {item.name for item in fields(simulator.live_options)}
        live = simulator.watch_options(simulator.live_options(**{k: v for k, v in given.items() if k in known}))
        if port is not None:
            live = replace(live, listen=f"{parse_address(live.listen, where='--listen')[0]}:{port}")
        self.ended = False
        self.warnings, self.events = deque[str](), deque[str]()
        self.signals = match_signals(simulator.list_signals(live), given.get("signals", ()), where="--signals")
        link = simulator.make_link(live)
        self._link, self._resyncs, self._newest = link, 0, CarState().sequence
        self._observer = link if isinstance(link, ObservesSession) else None
        self._sleeper = link if isinstance(link, Wakeable) else None
        if self.signals and isinstance(link, SignalSource):
            link.select_signals(self.signals)
        link.open(steady_clock.now())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._link.close()

    def wait(self, seconds: float) -> None:
        """Wait for a sample, at most `seconds`."""
        end = time.monotonic() + seconds
        while not self._link.has_new_sample() and time.monotonic() < end:
            if self._sleeper is None:
                time.sleep(_POLL_S)
            else:
                self._sleeper.wait(max(end - time.monotonic(), 0.0))

    def record_available(self, now: float) -> Iterator[tuple[CarState, float]]:
        """Yield the newest sample if it is new, with the time of the last lap that the simulator shows, s."""
        link, observer = self._link, self._observer
        state, last_lap_time = link.read(now), math.nan
        if state.sequence == self._newest:
            return
        self._newest = state.sequence
        if observer is not None:
            self.events.extend(observer.session_events)
            observer.session_events.clear()
            last_lap_time = observer.last_lap_time
        elif link.counters.resyncs != self._resyncs:
            self.events.append("the simulator counts its messages anew")
        self._resyncs = link.counters.resyncs
        yield state, last_lap_time

    def summary(self) -> JsonObject:
        """Return counts of samples."""
        return {"link": asdict(self._link.counters), "table": None, "rows": 0, "raw": None}


WAIT_S = 0.05  # s that one wait for data lasts; the loop tests for a stop between two


def record_session(
    simulator: AnySimulator,
    options: RecordOptions | None = None,
    *,
    port: int | None = None,
    output: Path | None = None,
    source: Path | None = None,
    out: Path | None = None,
    seconds: float = 0.0,
    camera: str = "",
    say: Callable[[str], None] = lambda text: None,
) -> JsonObject:
    """Record until stopped, until the time is over, or until the file is read; return what came and what was written.

    Without a table (`output`, or the settings' own file) there is a recording of ours with a report, and the
    simulator's lossless one beside it; with a table there is only the table, and the files that the options name.

    Args:
        simulator: whose wire.
        options: its record options; None for the defaults.
        port: to listen on; None: as the options say.
        output: the table's file.
        source: a recorded session to read instead of listening.
        out: folder for our recording; asks for one beside a table.
        seconds: s of wall time; 0 = until stopped.
        camera: pictures for our recording, as `drive --camera` takes it; not of a file.
        say: takes lines for the user.

    Raises:
        UsageError: this simulator has no recorder, or a setting is wrong.
        DataError: `source` is not a recorded session.
        SimulatorError: the port is taken.
    """
    tool = simulator.load_recorder()
    if tool is None:
        raise UsageError(f"there is no recorder for {simulator.name}", where="--sim")
    given = options or tool.options()
    path = (out or recordings_folder()) / f"{simulator.name}_{steady_clock.filename_timestamp()}.mcap"
    open_session, ours = _choose_session(
        simulator, tool, given, (port, output, source), path, is_wanted=out is not None
    )
    if camera and (source is not None or not ours):
        raise UsageError("pictures go with a live recording of ours", where="--camera",
                         hint="leave the table out, or add --out")  # fmt: skip
    option, stopped = choose_camera(camera, simulator, is_real_time=True), Event()
    before, laps = CarState(), LapClock()
    last = before
    with (
        handle_stop_signals(stopped.set),
        nullcontext() if option is None else closing(open_live_camera(option)) as pictures,
        open_session() as session,
    ):
        say(f"reading {source}" if source is not None else "listening; Ctrl-C ends the recording")
        with _open_recorder(path, ours, simulator.name, source, session.signals) as recorder:
            began = steady_clock.now()
            while not (stopped.is_set() or session.ended or (seconds and steady_clock.now() - began >= seconds)):
                session.wait(WAIT_S)
                last = _record_available(session, recorder, pictures, laps, last)
                _report_events(session, recorder, last, say, is_verbose=given.verbose)
        summary: JsonObject = {"sim": simulator.name, "seconds": steady_clock.now() - began, **session.summary()}
        summary["camera"] = {} if pictures is None else pictures.summarise_pictures()
    has_samples = last is not before
    if recorder is not None and not has_samples:
        recorder.path.unlink(missing_ok=True)
    kept = recorder.path if recorder is not None and has_samples else None
    summary["recording"] = kept and str(kept)
    summary["recording_error"] = recorder.error if recorder is not None else ""
    summary["report"] = kept and _write_report(kept, say)
    return summary


def _choose_session(
    simulator: AnySimulator,
    tool: AnyRecorder,
    options: RecordOptions,
    files: tuple[int | None, Path | None, Path | None],
    path: Path,
    *,
    is_wanted: bool,
) -> tuple[Callable[[], RecordingSession], bool]:
    """Return what opens the session of a recording, and whether our recording goes with it.

    Args:
        simulator: whose wire.
        tool: its recorder.
        options: of the recorder; the file for messages as they came is named in them where none is.
        files: port, table and recorded session, as of `record_session`.
        path: of our recording.
        is_wanted: whether our recording is wanted beside a table too.
    """
    port, output, source = files
    if isinstance(tool, LinkRecorder):
        check_files(simulator, port, output, source)
        return partial(LinkRecordingSession, simulator, options, port), True
    settings = tool.build_settings(options, port, output)
    ours = is_wanted or settings.output_filename is None
    if ours and isinstance(options, RawRecordOptions) and options.raw is None and source is None:
        options.raw = path.with_name(path.stem + tool.suffix)
    return partial(tool.open_session, options, settings, source), ours


def _record_available(
    session: RecordingSession, recorder: Recorder | None, camera: "PictureSource | None", laps: LapClock, last: CarState
) -> CarState:
    """Record the samples that have come, with the camera's pictures; return the newest, `last` where none came."""
    for state, last_lap_time in session.record_available(steady_clock.now()):
        last = state
        if camera is not None:
            state.image = camera.find_picture(state)
        if recorder is not None:
            recorder.tick(state, applied_controls(state))
            found = laps.update(state, last_lap_time)
            if isinstance(found, Rewind):
                recorder.store_rewind(found)
            elif found is not None:
                recorder.store_lap(found)
    return last


def _report_events(
    session: RecordingSession,
    recorder: Recorder | None,
    last: CarState,
    say: Callable[[str], None],
    *,
    is_verbose: bool,
) -> None:
    """Say a session's warnings, and its events if `is_verbose`; store these at the time of the `last` sample."""
    while session.warnings:
        say(session.warnings.popleft())
    while session.events:
        event = session.events.popleft()
        if is_verbose:
            say(event)
        if recorder is not None and not math.isnan(last.time):
            recorder.store_event(last.time, event)


@contextmanager
def _open_recorder(
    path: Path, wanted: bool, sim: str, source: Path | None, signals: Sequence[Signal]
) -> Iterator[Recorder | None]:
    if not wanted:
        yield None
        return
    recorder = Recorder(path, signals=signals, limits=PartLimits() if source is None else ONE_FILE)
    if source is None:  # live: a slow disk must not delay the socket; a file waits
        write_in_thread(recorder)
    recorder.start(
        {"sim": sim, "live": source is None, "source": source.name if source is not None else None,
         "trailbrake": __version__, "python": platform.python_version(), "system": platform.system(),
         "started": steady_clock.iso_timestamp()}
    )  # fmt: skip
    try:
        yield recorder
    finally:
        recorder.close()


def _write_report(recording: Path, say: Callable[[str], None]) -> str | None:
    try:
        return str(write_report(recording, recording.with_suffix(".html")))
    except TrailbrakeError as error:
        say(f"no report: {error}")
        return None
