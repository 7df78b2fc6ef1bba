"""`bench forza`: from datagram to state, from file to arrays, and from datagram to pad between two processes."""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from trailbrake.bench.rows import BenchRow, measure_median
from trailbrake.cars.car_library import load_car
from trailbrake.sims.forza import codec, convert, spec
from trailbrake.sims.forza.host import Host
from trailbrake.sims.forza.raw import RawWriter, read_arrays
from trailbrake.system import steady_clock
from trailbrake.tracks.track_library import load_track
from trailbrake.transport import pad_report
from trailbrake.transport.udp import UdpSocket
from trailbrake.world.plant import World

TRACK, CAR = "hartmoor", "gt3"
PACKETS, BATCHES = 500, 60
BULK_ROWS = 200_000
RATE, EXCHANGES, WARM_UP = 240.0, 12_000, 480
PATIENCE = 60.0  # s that the driving process may take to answer for the first time
ANSWER_S = 0.1  # s after which an exchange counts as unanswered


class ForzaGame:
    """The embedded world as the game, one datagram at a time; what it sends goes through our hands."""

    def __init__(self) -> None:
        self._receiver = UdpSocket()
        options = spec.ServeOptions(
            send=f"127.0.0.1:{self._receiver.port}", rate=RATE, pad_port=0, steering="linear"
        )  # fmt: skip
        plant: Any = World(load_track(TRACK), [load_car(CAR)], period=spec.host_period(options))
        self._host = Host(plant, options)
        self._host.open(0.0)
        self._now = 0.0

    def next_datagram(self) -> bytes:
        """Let one period pass and return what the game sends."""
        self._now += 1.0 / RATE
        self._host.tick(self._now)
        got = self._receiver.receive()
        assert got is not None
        return got[0]

    def send_pad_report(self, report: bytes) -> None:
        """Hand the game a pad report."""
        self._receiver.send(report, ("127.0.0.1", self._host.pad_port))

    def close(self) -> None:
        """Close its doors."""
        self._host.close()
        self._receiver.close()


def measure_rows() -> list[BenchRow]:
    """Measure all rows of this bench (about a minute and a half)."""
    game = ForzaGame()
    full = pad_report.encode_report(pad_report.driving_report(0.02, 1.0))
    packets = []
    for _ in range(PACKETS):
        game.send_pad_report(full)
        packets.append(game.next_datagram())
    game.close()
    decode, decode_note = measure_decoding(packets)
    with tempfile.TemporaryDirectory(prefix="trailbrake-bench-") as folder:
        path = Path(folder) / "bulk.forza"
        writer = RawWriter(path)
        for i in range(BULK_ROWS):
            writer.write(packets[i % PACKETS], i)
        writer.close()
        bulk, bulk_note = measure_median(5, lambda: measure_bulk_rows(path))
        times, lost = measure_packet_to_pad(Path(folder))
    times.sort()
    share = [times[min(int(q * len(times)), len(times) - 1)] * 1e6 for q in (0.5, 0.99, 0.999)]
    return [
        BenchRow("decode_us", decode, "us", "lower", decode_note),
        BenchRow(
            "bulk_rows_per_s", bulk, "1/s", "higher",
            f"raw file of {BULK_ROWS} datagrams to one array with all fields, and the sum of one; {bulk_note}",
        ),
        BenchRow(
            "packet_to_pad_p99_us", share[1], "us", "lower",
            f"datagram sent to pad report received, `drive --live` with line_follow and recording in a process of its "
            f"own, {RATE:g}/s; {len(times)} exchanges, p50 {share[0]:.0f} us, p99.9 {share[2]:.0f} us, longest "
            f"{times[-1] * 1e6:.0f} us, unanswered {lost}",
        ),
    ]  # fmt: skip


def measure_decoding(packets: list[bytes]) -> tuple[float, str]:
    """Return us from a datagram to a full CarState, and a note: the median of batches."""
    values = []
    for _ in range(BATCHES):
        began = steady_clock.now()
        for i, data in enumerate(packets):
            convert.state_from_wire(codec.decode_state_subset(data), 0.0, i)
        values.append((steady_clock.now() - began) / len(packets) * 1e6)
    values.sort()
    note = f"324 bytes to CarState with its wheels; median of {BATCHES} batches of {len(packets)}"
    return statistics.median(values), f"{note}, {values[0]:.3g} to {values[-1]:.3g}"


def measure_bulk_rows(path: Path) -> float:
    """Return rows per second of wall time from a raw recording to its array, and the sum of one column."""
    began = steady_clock.now()
    (table,) = read_arrays(path).values()
    speeds = table["speed"]
    float(speeds.sum())
    spent = steady_clock.now() - began
    assert len(speeds) == BULK_ROWS
    return BULK_ROWS / spent


def measure_packet_to_pad(out: Path) -> tuple[list[float], int]:
    """Return s from sending a datagram to the pad report that answers it, for each exchange, and how many had none."""
    game, pad, sender = ForzaGame(), UdpSocket(), UdpSocket()
    listen = UdpSocket()
    to = ("127.0.0.1", listen.port)
    listen.close()  # a free port for the other process
    process = subprocess.Popen(
        [sys.executable, "-m", "trailbrake", "drive", "--sim=forza", "--live", f"--listen={to[0]}:{to[1]}",
         f"--pad=udp:127.0.0.1:{pad.port}", f"--track={TRACK}", f"--car={CAR}", "--laps=0", "--no-report",
         f"--out={out}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    times: list[float] = []
    lost = 0
    try:
        began = due = steady_clock.now()
        count = 0
        while count < WARM_UP + EXCHANGES:
            data = game.next_datagram()
            while pad.receive() is not None:  # an answer that came too late
                pass
            due = max(due + 1.0 / RATE, steady_clock.now() - 1.0 / RATE)
            steady_clock.sleep_until(due)
            sent = steady_clock.now()
            sender.send(data, to)
            answered = pad.wait_readable(ANSWER_S if times else 1.0 / RATE)
            took = steady_clock.now() - sent
            got = pad.receive()
            if got is not None:
                game.send_pad_report(got[0])
            if not answered and not times:
                if steady_clock.now() - began > PATIENCE or process.poll() is not None:
                    raise RuntimeError("the drive did not answer")
                continue
            count += 1
            lost += not answered
            times.append(took)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        for thing in (game, pad, sender):
            thing.close()
    return times[WARM_UP:], lost
