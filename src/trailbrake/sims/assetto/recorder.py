"""`record --sim assetto`: the player's car by the game's standard pages, while a person or another program drives it.

Source: protocol page assetto-custom-ai, section 6. No car is taken.
"""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Self

from trailbrake.errors import UsageError
from trailbrake.laps import LapRecord
from trailbrake.roles import LinkCounters
from trailbrake.sims.assetto.spec import RecordOptions
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.classic_reader import session_text, status_text
from trailbrake.sims.assetto.wire.player_sampler import PlayerSampler
from trailbrake.simulator_tools import RecorderTool, TextEvent, TextEventStream
from trailbrake.state import CarState
from trailbrake.transport.shm import SharedMemory

_POLL_S = 0.001  # between looks at packet_id, which moves every 3 ms


class RecordSettings(NamedTuple):
    """The table: there is none; `trailbrake export` makes one of a recording."""

    output_filename: Path | None = None


def build_settings(options: RecordOptions, port: int | None, output: Path | None) -> RecordSettings:
    """Return the settings. UsageError for a port or a table: this wire has neither."""
    if port is not None or output is not None:
        raise UsageError(
            "this simulator is recorded from shared memory, and into no table",
            where="record",
            hint="leave PORT and OUTPUT out; `trailbrake export` makes a table of the recording",
        )
    return RecordSettings()


class RecordingSession:
    """A recording in progress; a context manager.

    Args:
        options: not used: there is one way to record.
        settings: not used either.
        source: must be None: there are no files of raw pages.

    Attributes:
        stream: number of samples, and events.
        ended: whether there is nothing more to come.
        warnings: lines for the user; the reader removes them.
    """

    def __init__(self, options: RecordOptions, settings: RecordSettings, source: Path | None = None) -> None:
        if source is not None:
            raise UsageError("there are no files of this simulator's messages", where="--from", got=str(source),
                             hint="--live records the game; `trailbrake report` reads a recording")  # fmt: skip
        self.stream, self.ended = TextEventStream(), False
        self.warnings: deque[str] = deque()
        self._counters = LinkCounters()
        self._sampler = PlayerSampler(SharedMemory(), self._counters)
        self._status = self._session = -2  # none
        self._completed_laps = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._sampler.close()

    def wait(self, seconds: float) -> None:
        """Wait for a new sample, at most `seconds`."""
        end = time.monotonic() + seconds
        while not self._sampler.has_new_sample() and time.monotonic() < end:
            time.sleep(_POLL_S)

    def record_available(self, now: float) -> Iterator[tuple[CarState, LapRecord | None]]:
        """Yield the new sample, if there is one, and the lap that ended at it or None."""
        if not self._sampler.has_new_sample():
            return
        resyncs = self._counters.resyncs
        state = self._sampler.read_state(now)
        self.stream.sequence += 1
        graphics = self._sampler.graphics
        if self._counters.resyncs != resyncs:
            self.stream.events.append(TextEvent("the session began anew"))
            self._completed_laps = -1
        yield state, None if graphics is None else self._follow_session(graphics)

    def _follow_session(self, graphics: acpmf.Graphics) -> LapRecord | None:
        """Record changes of the session; return a lap that has ended. Whether it counts is not on the pages."""
        if (graphics.status, graphics.session) != (self._status, self._session):
            self._status, self._session = graphics.status, graphics.session
            text = f"{status_text(graphics.status)}, {session_text(graphics.session)}"
            self.stream.events.append(TextEvent(text))
        before, self._completed_laps = self._completed_laps, graphics.completed_laps
        if before < 0 or graphics.completed_laps != before + 1 or graphics.i_last_time <= 0:
            return None
        return LapRecord(graphics.completed_laps, graphics.i_last_time * 1e-3, True, (), "", 0.0, 0)

    def summary(self) -> dict[str, Any]:
        """Return counts of samples."""
        return {"link": asdict(self._counters), "table": None, "rows": 0, "raw": None}


RECORDER = RecorderTool("", build_settings, RecordingSession)
