"""`record` through the link that watches: a drive of another program or a person, as samples for a recorder's tap."""

import math
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Self

from trailbrake.errors import DataError, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.roles import ObservesSession, SignalSource, Wakeable
from trailbrake.simulator import AnySimulator
from trailbrake.simulator_tools import RecordOptions, TextEvent, TextEventStream
from trailbrake.state import CarState
from trailbrake.state.signals import match_signals
from trailbrake.transport.udp import parse_address

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
        stream: number of samples, and events.
        ended: False: a wire has no end.
        warnings: lines for the user; the reader removes them.
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
        self.stream, self.ended = TextEventStream(), False
        self.warnings: deque[str] = deque()
        self.signals = match_signals(simulator.list_signals(live), given.get("signals", ()), where="--signals")
        link = simulator.make_link(live)
        self._link, self._resyncs = link, 0
        self._observer = link if isinstance(link, ObservesSession) else None
        self._sleeper = link if isinstance(link, Wakeable) else None
        if self.signals and isinstance(link, SignalSource):
            link.select_signals(self.signals)
        link.open(0.0)

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
        if not link.has_new_sample():
            return
        state, last_lap_time = link.read(now), math.nan
        self.stream.sequence += 1
        if observer is not None:
            self.stream.events.extend(map(TextEvent, observer.session_events))
            observer.session_events.clear()
            last_lap_time = observer.last_lap_time
        elif link.counters.resyncs != self._resyncs:
            self.stream.events.append(TextEvent("the simulator counts its messages anew"))
        self._resyncs = link.counters.resyncs
        yield state, last_lap_time

    def summary(self) -> JsonObject:
        """Return counts of samples."""
        return {"link": asdict(self._link.counters), "table": None, "rows": 0, "raw": None}
