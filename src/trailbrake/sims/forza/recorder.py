"""The recorder: receives packets, or reads a recorded session; writes tables and raw recordings, and yields states.

Source: protocol page forza-data-out, section 4. The recorder processes every packet, not only the newest one. Tables
contain the packets of a driven car, raw recordings all datagrams.
"""

import math
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, Self

from trailbrake.errors import UsageError
from trailbrake.sims.forza import recorder_settings
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.link import parse_forward
from trailbrake.sims.forza.raw import RawWriter
from trailbrake.sims.forza.recorder_settings import RecorderSettings
from trailbrake.sims.forza.replay import open_session
from trailbrake.sims.forza.signals import LEARNING_SIGNALS, SIGNALS, PacketSignalReader
from trailbrake.sims.forza.spec import AUTO, RecordOptions
from trailbrake.sims.forza.tables import DEFAULT_COLUMNS, TableWriter, UnknownField, clear_fields, make_row_builder
from trailbrake.sims.forza.telemetry_stream import TelemetryStream
from trailbrake.simulator_tools import RecorderTool
from trailbrake.state import CarState
from trailbrake.state.signals import match_signals
from trailbrake.transport.client_notices import print_to_stderr
from trailbrake.transport.udp import UdpSocket, parse_address

SUFFIX = ".forza"  # of raw recordings
_MAX_DATAGRAMS_PER_READ = 512  # so that a flooded port does not block the loop


def build_settings(options: RecordOptions, port: int | None, output: Path | None) -> RecorderSettings:
    """Return what to write; the YAML file takes precedence over the command line. UsageError for a wrong value."""
    flags = recorder_settings.check_settings(
        RecorderSettings(port, output, options.format, options.append, options.packet_format), where="record"
    )
    return recorder_settings.load_settings(options.config, flags) if options.config is not None else flags


class RecordingSession:
    """A recording in progress; a context manager.

    Args:
        options: address to listen on, and what to write besides the table.
        settings: the table.
        source: a recorded session to read instead of listening.

    Attributes:
        stream: interprets the datagrams.
        ended: whether the whole file is read.
        warnings: lines for the user; the reader removes them.
        events: changes of phase and jumps of the clock; the reader removes them.
        signals: those that every state carries.
    """

    def __init__(self, options: RecordOptions, settings: RecorderSettings, source: Path | None = None) -> None:
        self._options, self._settings = options, settings
        self.stream = TelemetryStream(print_to_stderr)
        self.ended = False
        self.warnings, self.events = deque[str](), deque[str]()
        self._udp: UdpSocket | None = None
        self._file: Iterator[tuple[bytes, int]] | None = None
        # A car is learned by these, from anybody's recording.
        self.signals = match_signals(SIGNALS, (*options.signals, *LEARNING_SIGNALS), where="--signals")
        self._unknown: tuple[UnknownField, ...] = ()
        columns = None
        if source is not None:
            found = open_session(source, options.rate)
            self._file, self._unknown, columns = found.datagrams, found.unknown, found.columns
            self.stream.period = found.period or self.stream.period
            if found.note:
                self.warnings.append(found.note)
        else:
            if options.rate:
                raise UsageError("a live wire has its own rate", where="--rate", hint="it is for tables: --from FILE")
            host, port = parse_address(options.listen, where="--listen")
            port = port if settings.port is None else settings.port
            self._forward = parse_forward(options.forward, port)
            self._udp = UdpSocket((host, port), where=f"port {port}")
        if self.signals:
            self.stream.signal_reader = PacketSignalReader(self.signals, columns)
        self._raw: RawWriter | None = None
        self._table: TableWriter | None = None
        self._row = make_row_builder(())
        self._mismatched: set[str] = set()
        try:
            self._raw = RawWriter(options.raw) if options.raw is not None else None
            if settings.output_filename is not None and (settings.parameter_list or settings.expected != AUTO):
                self._open_table(settings.expected)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _open_table(self, form: str) -> None:
        """Open the table; without a list of columns it has those of the format `form`."""
        wanted = self._settings
        assert wanted.output_filename is not None
        keys = wanted.parameter_list or DEFAULT_COLUMNS[form]
        self._row = make_row_builder(keys)
        self._table = TableWriter(wanted.output_filename, keys, wanted.format, wanted.append)

    @property
    def writes_table(self) -> bool:
        """Whether the recording writes a table."""
        return self._settings.output_filename is not None

    def wait(self, seconds: float) -> None:
        """Sleep until a datagram arrives, at most `seconds`; return at once when reading a file."""
        if self._udp is not None:
            self._udp.wait_readable(seconds)

    def record_available(self, now: float) -> Iterator[tuple[CarState, float]]:
        """Record the waiting datagrams; yield each new sample, and the time of the last lap that it shows, s.

        Args:
            now: s, any steady clock; a file uses its recorded times.
        """
        for data, received_ns, sender in self._receive_datagrams():
            if self._raw is not None:
                self._raw.write(data, received_ns)
            at = received_ns / 1e9 if self._file is not None else now
            if not self.stream.feed_datagram(data, at, sender):
                continue
            packet = self.stream.packet
            assert packet is not None
            self._check_format(packet)
            if self._settings.output_filename is not None:
                if self._table is None:
                    self._open_table(packet.format)
                assert self._table is not None
                self._table.write(self._row(packet, received_ns, len(data)))
            state = self.stream.current_state(at)
            clear_fields(state, self._unknown)
            yield state, math.nan if packet.dash is None else packet.dash.last_lap_time
        while self.stream.events:
            self.events.append(self.stream.events.popleft().text)

    def _receive_datagrams(self) -> Iterator[tuple[bytes, int, object]]:
        if self._file is not None:
            count = 0
            for data, received_ns in islice(self._file, _MAX_DATAGRAMS_PER_READ):
                count += 1
                yield data, received_ns, "file"
            self.ended = count < _MAX_DATAGRAMS_PER_READ
            return
        assert self._udp is not None
        for _ in range(_MAX_DATAGRAMS_PER_READ):
            got = self._udp.receive()
            if got is None:
                return
            for target in self._forward:
                self._udp.send(got[0], target)
            yield got[0], time.time_ns(), got[1]

    def _check_format(self, packet: Packet) -> None:
        expected = self._settings.expected
        if expected not in (AUTO, packet.format) and packet.format not in self._mismatched:
            self._mismatched.add(packet.format)
            self.warnings.append(
                f"expected {self._settings.packet_format} packets, got {packet.format}: they are read by their length; "
                "cells that they do not have stay empty"
            )

    def summary(self) -> dict[str, Any]:
        """Return counts, and the names of the written files."""
        return {
            "link": asdict(self.stream.counters),
            "table": str(self._settings.output_filename) if self.writes_table else None,
            "rows": self._table.rows if self._table is not None else 0,
            "raw": str(self._options.raw) if self._raw is not None else None,
            "datagrams": self._raw.count if self._raw is not None else 0,
        }

    def close(self) -> None:
        """Close all files and the socket. A second call does nothing."""
        for thing in (self._table, self._raw, self._udp):
            if thing is not None:
                thing.close()


RECORDER = RecorderTool(RecordOptions, SUFFIX, build_settings, RecordingSession)
