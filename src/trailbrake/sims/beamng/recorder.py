"""`record --sim beamng`: the car of the player or of the game's AI, whose controls stay with them.

Source: protocol page beamng-coupling, section 4. The wire has no laps: a recording has none either.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Self

from trailbrake.errors import UsageError
from trailbrake.laps import LapRecord
from trailbrake.sims.beamng.passive_link import PassiveLink
from trailbrake.sims.beamng.signals import list_signals
from trailbrake.sims.beamng.spec import LiveOptions, RecordOptions
from trailbrake.simulator_tools import RecorderTool, TextEvent, TextEventStream
from trailbrake.state import CarState
from trailbrake.state.signals import match_signals
from trailbrake.transport.udp import parse_address


class ListenSettings(NamedTuple):
    """The port (None: as the options say). There is no table; `trailbrake export` makes one of a recording."""

    port: int | None = None
    output_filename: Path | None = None


def build_settings(options: RecordOptions, port: int | None, output: Path | None) -> ListenSettings:
    """Return the settings; UsageError for a table."""
    if output is not None:
        raise UsageError("this simulator is recorded into no table", where="record", got=str(output),
                         hint="leave OUTPUT out; `trailbrake export` makes a table of the recording")  # fmt: skip
    return ListenSettings(port)


class RecordingSession:
    """A recording in progress; a context manager.

    Args:
        options: addresses and timing.
        settings: the port.
        source: must be None: there are no files of raw messages.

    Attributes:
        stream: number of samples, and events.
        ended: False: the wire has no end.
        warnings: lines for the user; the reader removes them.
        signals: those that every state carries.
    """

    def __init__(self, options: RecordOptions, settings: ListenSettings, source: Path | None = None) -> None:
        if source is not None:
            raise UsageError("there are no files of this simulator's messages", where="--from", got=str(source),
                             hint="--live records the game; `trailbrake report` reads a recording")  # fmt: skip
        listen = options.listen
        if settings.port is not None:
            listen = f"{parse_address(listen, where='--listen')[0]}:{settings.port}"
        live = LiveOptions(
            listen=listen, peer=options.peer, simulink_time=options.simulink_time, ping_time=options.ping_time,
            vehicle=options.vehicle, take=False,
        )  # fmt: skip
        self.stream, self.ended = TextEventStream(), False
        self.warnings: deque[str] = deque()
        self.signals = match_signals(list_signals(live), options.signals, where="--signals")
        self._link = PassiveLink(live)
        if self.signals:
            self._link.select_signals(self.signals)
        self._link.open(0.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._link.close()

    def wait(self, seconds: float) -> None:
        """Wait for a message, at most `seconds`."""
        if not self._link.has_new_sample():
            self._link.wait(seconds)

    def record_available(self, now: float) -> Iterator[tuple[CarState, LapRecord | None]]:
        """Yield the newest sample if it is new, and None: the wire has no laps. Its message is answered before."""
        if not self._link.has_new_sample():
            return
        counters = self._link.counters
        before = counters.resyncs
        state = self._link.read(now)
        self.stream.sequence += 1
        if counters.resyncs != before:
            self.stream.events.append(TextEvent("the simulator counts its messages anew"))
        yield state, None

    def summary(self) -> dict[str, Any]:
        """Return counts of messages."""
        return {"link": asdict(self._link.counters), "table": None, "rows": 0, "raw": None}


RECORDER = RecorderTool("", build_settings, RecordingSession)
