"""Records what a simulator sends while somebody else drives, or turns a recorded session of its own kind into ours.

A simulator whose folder has a `recorder.py` can do it: `Options`, `settings_of(options, port, output)` and
`Session(options, settings, source)`, which writes the simulator's own files and yields each new sample with the lap
that ended at it.
"""

import math
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trailbrake import __version__
from trailbrake.analysis.report import write_report
from trailbrake.config import recordings_folder
from trailbrake.errors import TrailbrakeError, UsageError, near
from trailbrake.record.threaded import Threaded
from trailbrake.record.writer import Recorder
from trailbrake.run import rate
from trailbrake.run.signals import on_stop
from trailbrake.sims import registry
from trailbrake.state import CarState, Controls

WAIT_S = 0.05  # how long one look for data lasts: a stop is heard between two


def record(
    sim: str,
    options: Any = None,
    *,
    port: int | None = None,
    output: Path | None = None,
    source: Path | None = None,
    out: Path | None = None,
    seconds: float = 0.0,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Record until stopped, until the time is over, or until the file is read; return what came and what was written.

    Without a table (`output`, or the settings' own file) there is a recording of ours with a report, and the
    simulator's lossless one beside it; with a table there is only the table, and what else was asked for.

    Args:
        sim: the simulator's name.
        options: its `spec.RecordOptions`; None for the defaults.
        port: to listen on; None: as the options say.
        output: the table's file.
        source: a recorded session to read instead of listening.
        out: folder for our recording; asks for one beside a table.
        seconds: of wall time to listen; 0 = until stopped.
        say: takes lines for the user.

    Raises:
        UsageError: this simulator has no recorder, or a setting is wrong.
        DataError: `source` is not a recorded session.
        SimulatorError: the port is taken.
    """
    able = registry.having("recorder")
    if sim not in able:
        raise UsageError(f"there is no recorder for {sim}", where="--sim", hint=near(sim, able))
    module = registry.part(sim, "recorder")
    options = options or registry.part(sim, "spec").RecordOptions()
    wanted = module.settings_of(options, port, output)
    folder, name = out or recordings_folder(), f"{sim}_{rate.stamp()}"
    ours = out is not None or wanted.output_filename is None
    if ours and options.raw is None and source is None:
        options.raw = folder / f"{name}{module.SUFFIX}"
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True

    last = CarState()
    with on_stop(stop), module.Session(options, wanted, source) as session:
        say(f"reading {source}" if source is not None else "listening; Ctrl-C ends the recording")
        with _recorder(folder / f"{name}.mcap", ours, sim, source) as recorder:
            began = rate.now()
            while not (stopped or session.ended or (seconds and rate.now() - began >= seconds)):
                session.wait(WAIT_S)
                for state, lap in session.take(rate.now()):
                    last = state
                    if recorder is not None:
                        recorder.tick(state, _echo(state))
                        if lap is not None:
                            recorder.lap(lap)
                while session.warnings:
                    say(session.warnings.popleft())
                while session.intake.events:
                    event = session.intake.events.popleft()
                    if options.verbose:
                        say(event.text)
                    if recorder is not None and not math.isnan(last.time):
                        recorder.event(last.time, event.text)
        summary: dict[str, Any] = {"sim": sim, "seconds": rate.now() - began, **session.summary()}
    summary["recording"] = str(recorder.path) if recorder is not None else None
    summary["recording_error"] = recorder.error if recorder is not None else ""
    summary["report"] = _report(recorder.path, say) if recorder is not None and session.intake.sequence else None
    return summary


@contextmanager
def _recorder(path: Path, wanted: bool, sim: str, source: Path | None) -> Iterator[Recorder | Threaded | None]:
    if not wanted:
        yield None
        return
    plain = Recorder(path)
    # Live, a slow disk must not delay the socket; a file waits.
    recorder = Threaded(plain) if source is None else plain
    recorder.start(
        {"sim": sim, "live": source is None, "source": source.name if source is not None else None,
         "trailbrake": __version__, "python": platform.python_version(), "system": platform.system(),
         "started": rate.date()}
    )  # fmt: skip
    try:
        yield recorder
    finally:
        recorder.close()


def _echo(state: CarState) -> Controls:
    """Return the controls as the simulator says that it took them: somebody else drives."""
    return Controls(state.steer, state.throttle, state.brake, state.clutch, state.handbrake, state.gear)


def _report(recording: Path, say: Callable[[str], None]) -> str | None:
    try:
        return str(write_report(recording, recording.with_suffix(".html")))
    except TrailbrakeError as error:
        say(f"no report: {error}")
        return None
