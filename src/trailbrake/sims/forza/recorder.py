"""The recorder: listens, or reads a recorded session; writes tables and raw recordings, and hands out the states.

Source: protocol page forza-data-out, section 4. Every packet counts here, not only the newest one. Tables get the
packets of a driven car, raw recordings everything that came.
"""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, Self

from trailbrake.laps import LapRecord
from trailbrake.sims.forza import settings
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.columns import DEFAULTS, row_maker
from trailbrake.sims.forza.intake import Intake
from trailbrake.sims.forza.link import forward_to
from trailbrake.sims.forza.raw import RawWriter
from trailbrake.sims.forza.settings import Settings
from trailbrake.sims.forza.sources import read_datagrams
from trailbrake.sims.forza.spec import AUTO, RecordOptions
from trailbrake.sims.forza.tables import TableWriter
from trailbrake.state import CarState
from trailbrake.transport.udp import Udp, address

SUFFIX = ".forza"  # of raw recordings
_AT_ONCE = 512  # datagrams per take: who floods the port may not hold the loop


def settings_of(options: RecordOptions, port: int | None, output: Path | None) -> Settings:
    """Return what is to be written: the YAML file goes before flags and line. UsageError where it is wrong."""
    flags = settings.check(
        Settings(port, output, options.format, options.append, options.packet_format), where="record"
    )
    return settings.load(options.config, flags) if options.config is not None else flags


class Session:
    """One recording under way; a context manager.

    Args:
        options: where to listen, and what to write beside the table.
        wanted: the table.
        source: a recorded session to read instead of listening.

    Attributes:
        intake: what the datagrams meant.
        ended: whether nothing more will come: the file is read.
        warnings: lines for the user, taken out by whoever prints them.
    """

    def __init__(self, options: RecordOptions, wanted: Settings, source: Path | None = None) -> None:
        self._options, self._wanted = options, wanted
        self.intake = Intake()
        self.ended = False
        self.warnings: deque[str] = deque()
        self._udp: Udp | None = None
        self._file: Iterator[tuple[bytes, int]] | None = None
        if source is not None:
            self._file = read_datagrams(source)
        else:
            host, port = address(options.listen, where="--listen")
            port = port if wanted.port is None else wanted.port
            self._forward = forward_to(options.forward, port)
            self._udp = Udp((host, port), where=f"port {port}")
        self._raw: RawWriter | None = None
        self._table: TableWriter | None = None
        self._row = row_maker(())
        self._mismatched: set[str] = set()
        try:
            self._raw = RawWriter(options.raw) if options.raw is not None else None
            if wanted.output_filename is not None and (wanted.parameter_list or wanted.expected != AUTO):
                self._open_table(wanted.expected)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _open_table(self, form: str) -> None:
        """Begin the table; without a list of columns it gets those of the format that came first."""
        wanted = self._wanted
        assert wanted.output_filename is not None
        keys = wanted.parameter_list or DEFAULTS[form]
        self._row = row_maker(keys)
        self._table = TableWriter(wanted.output_filename, keys, wanted.format, wanted.append)

    @property
    def writes_table(self) -> bool:
        """Whether a table was asked for."""
        return self._wanted.output_filename is not None

    def wait(self, seconds: float) -> None:
        """Wait until something comes, at most `seconds`; a file never waits."""
        if self._udp is not None:
            self._udp.wait(seconds)

    def take(self, now: float) -> Iterator[tuple[CarState, LapRecord | None]]:
        """Record what has come, and yield each new sample, with the lap that ended at it.

        Args:
            now: s, any steady clock; a file has its own.
        """
        for data, received_ns, sender in self._come():
            if self._raw is not None:
                self._raw.write(data, received_ns)
            at = received_ns / 1e9 if self._file is not None else now
            before = self.intake.packet
            if not self.intake.feed(data, at, sender):
                continue
            packet = self.intake.packet
            assert packet is not None
            self._check_format(packet)
            if self._wanted.output_filename is not None:
                if self._table is None:
                    self._open_table(packet.format)
                assert self._table is not None
                self._table.write(self._row(packet, received_ns, len(data)))
            yield self.intake.state(at), _lap(before, packet)

    def _come(self) -> Iterator[tuple[bytes, int, object]]:
        if self._file is not None:
            count = 0
            for data, received_ns in islice(self._file, _AT_ONCE):
                count += 1
                yield data, received_ns, "file"
            self.ended = count < _AT_ONCE
            return
        assert self._udp is not None
        for _ in range(_AT_ONCE):
            got = self._udp.receive()
            if got is None:
                return
            for target in self._forward:
                self._udp.send(got[0], target)
            yield got[0], time.time_ns(), got[1]

    def _check_format(self, packet: Packet) -> None:
        expected = self._wanted.expected
        if expected not in (AUTO, packet.format) and packet.format not in self._mismatched:
            self._mismatched.add(packet.format)
            self.warnings.append(
                f"expected {self._wanted.packet_format} packets, got {packet.format}: they are read by their length; "
                "cells that they do not have stay empty"
            )

    def summary(self) -> dict[str, Any]:
        """Return what came, and what was written where."""
        return {
            "link": asdict(self.intake.counters),
            "table": str(self._wanted.output_filename) if self.writes_table else None,
            "rows": self._table.rows if self._table is not None else 0,
            "raw": str(self._options.raw) if self._raw is not None else None,
            "datagrams": self._raw.count if self._raw is not None else 0,
        }

    def close(self) -> None:
        """Close every file and the door. A second time does nothing."""
        for thing in (self._table, self._raw, self._udp):
            if thing is not None:
                thing.close()


def _lap(before: Packet | None, after: Packet) -> LapRecord | None:
    """Return the lap that ended between two packets: LapNumber is one more, and LastLap tells its time."""
    if before is None or before.dash is None or after.dash is None:
        return None
    old, new = before.dash, after.dash
    if new.lap_no != old.lap_no + 1 or not new.last_lap_time > 0.0:
        return None
    return LapRecord(new.lap_no, new.last_lap_time, True, (), "", 0.0, 0)
