"""The laps of 200 drives with planted rewinds, lost packets, pauses, restarts and out laps, in all that shows laps.

Every tenth drive by default, in which each wire meets what it can; all with -m faults, as `.ci/run` does.
"""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.driver_files import write_driver
from helpers.picture_drives import jpeg as encode_jpeg
from helpers.picture_drives import pixels_of as decode_jpeg
from helpers.planted_drives import EVENTS, LENGTH, RADIUS, plant_drive
from helpers.roads import circle

from trailbrake.analysis.lap_location import choose_line, locate_laps
from trailbrake.analysis.lap_traces import trace_laps
from trailbrake.analysis.report import write_report
from trailbrake.dashboard.recorded_frames import RecordedFrames
from trailbrake.driving.open_loop import replay_open_loop
from trailbrake.driving.options import OpenLoopOptions
from trailbrake.driving.road_monitor import RoadMonitor, WireLapScorer
from trailbrake.driving.session_recording import record_session
from trailbrake.frames import left_handed_from_iso
from trailbrake.learning.learning_drives import read_drive
from trailbrake.learning.options import LearnOptions
from trailbrake.learning.road_mapping import map_road
from trailbrake.record.driving_log import SkippedRows, export_driving_log, read_rows
from trailbrake.record.motec_export import export_motec
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.record.run_frame import load
from trailbrake.record.run_index import RunIndex
from trailbrake.sims.forza import codec
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, Sled
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.raw import RawWriter
from trailbrake.sims.registry import find
from trailbrake.state import Controls, Image
from trailbrake.tracks.track_library import load_track
from trailbrake.train.dataset import select_rows
from trailbrake.train.sources import RecordingSource

EXACT = 0.002  # s
ROAD = circle(RADIUS).road


def record_packets(drive, tmp_path, rng):
    """Through Forza's packets; the time of the last lap comes up to three packets late."""
    writer = RawWriter(tmp_path / "a.forza")
    late, paused, shown = int(rng.integers(0, 4)), 0, [0.0] * 4
    for moment in drive.moments:
        if moment is None:
            paused += 16
            packet = Packet(Sled(is_race_on=0, timestamp_ms=paused), HorizonBlock(), Dash(), tail=codec.TAIL)
            writer.write(codec.encode_packet(packet), paused)
            continue
        state = moment.make_state()
        shown = [*shown[1:], moment.laps[-1][1] if moment.laps else 0.0]
        x, y, z = left_handed_from_iso((state.x, state.y, 0.0))
        ms = int(moment.time * 1000.0) + paused + 16
        dash = Dash(position_x=x, position_y=y, position_z=z, speed=moment.speed, cur_lap_time=state.lap_time,
                    cur_race_time=moment.race + 0.001, lap_no=moment.lap - 1,
                    last_lap_time=shown[-1 - late])  # fmt: skip
        writer.write(codec.encode_packet(Packet(Sled(1, ms), HorizonBlock(), dash, tail=codec.TAIL)), ms * 10**6)
    writer.close()
    summary = record_session(find("forza"), source=tmp_path / "a.forza", out=tmp_path)
    return Recording.open(summary["recording"])


def record_samples(samples, tmp_path):
    """Through `record` of a wire that yields these (state, time of the last lap)."""

    class Session:
        ended, warnings, events, signals = False, (), (), ()

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def wait(self, seconds):
            pass

        def record_available(self, now):
            self.ended = True
            return iter(samples)

        def summary(self):
            return {}

    tool = SimpleNamespace(
        options=lambda: SimpleNamespace(verbose=False), suffix=".raw",
        build_settings=lambda *given: SimpleNamespace(output_filename=None), open_session=lambda *given: Session(),
    )  # fmt: skip
    wire = SimpleNamespace(name="wire", load_recorder=lambda: tool)
    return Recording.open(record_session(wire, source=tmp_path / "a", out=tmp_path)["recording"])


def record_pages(drive, tmp_path, rng):
    """As Assetto Corsa's pages: physics at 333 Hz, laps in ms and up to five samples older."""
    moments = [moment for moment in drive.moments if moment is not None]
    samples = []
    for index, moment in enumerate(moments):
        older = moments[max(index - index % 5, 0)]
        same = older.race <= moment.race and 0.0 <= moment.time - older.time < 0.02
        older = older if same else moment
        state = replace(moment.make_state(), lap=float(older.lap), lap_time=round(older.race - older.lap_start, 3))
        has_ended = samples and state.lap > samples[-1][0].lap
        samples.append((state, round(older.laps[-1][1], 3) if has_ended else np.nan))
    return record_samples(samples, tmp_path)


def record_counts(drive, tmp_path, rng):
    """As the Socket.IO simulators: the number of the lap alone; its clock is that of the samples."""
    samples, began, before = [], 0.0, None
    for moment in drive.moments:
        if moment is not None:
            restarted = before is not None and moment.race < before.race
            if restarted or (before is not None and moment.lap != before.lap):
                began = moment.time
            state = replace(moment.make_state(), x=np.nan, y=np.nan, lap_time=moment.time - began)
            samples.append((state, np.nan))
            before = moment
    return record_samples(samples, tmp_path)


def record_drive(drive, tmp_path, rng, has_clock=True):
    """As `drive` on a known road: by positions, and the rewinds by the wire's lap clock."""
    recorder = Recorder(tmp_path / "a.mcap")
    recorder.start({"track": "circle"})
    monitor = RoadMonitor(ROAD, None, recorder.store_lap, on_rewind=recorder.store_rewind)
    for moment in drive.moments:
        if moment is not None:
            state = moment.make_state()
            if not has_clock:
                state = replace(state, lap=np.nan, lap_time=np.nan, time=moment.race)
            recorder.tick(state, Controls())
            monitor.observe_state(state)
    recorder.close()
    recording = Recording.open(recorder.path)
    assert [lap.time_s for lap in recording.laps] == [lap.time_s for lap in monitor.laps]
    return recording


def record_positions(drive, tmp_path, rng):
    """As BeamNG's wire: positions, and a clock that a restart sets back."""
    return record_drive(drive, tmp_path, rng, has_clock=False)


WIRES = {
    "forza": (record_packets, 60.0, EVENTS, 60),
    "pages": (record_pages, 333.0, EVENTS, 20),
    "counts": (record_counts, 20.0, tuple(e for e in EVENTS if "rewind" not in e and e != "out lap"), 40),
    "drive": (record_drive, 60.0, EVENTS, 40),
    "positions": (record_positions, 100.0, tuple(e for e in EVENTS if "rewind" not in e and e != "out lap"), 40),
}


def list_consumers(recording, located):
    """Yield (number, s) of the laps as each consumer has them; `located`: those too that take their time."""
    yield "replay", [(lap.number, lap.time_s) for lap in RecordedFrames(recording, None).laps]
    yield "runs", [(lap.number, lap.time_s) for lap in recording.list_lap_records()]
    if located:
        found = locate_laps(recording, 0, choose_line([recording]), 99)
        yield "compare", [(lap.number, lap.time_s) for lap in found if lap.finished]
        yield "report", [(lap.number, lap.time_s) for lap in trace_laps(recording, 99).laps if lap.finished]


@pytest.mark.slow
@pytest.mark.parametrize("step", [20, pytest.param(1, marks=pytest.mark.faults)])
@pytest.mark.parametrize("wire", WIRES)
def test_laps_are_the_true_ones(wire, step, tmp_path):
    record, rate, events, count = WIRES[wire]
    seen = set()
    for seed in range(0, count, step):
        rng = np.random.default_rng([seed, len(wire)])
        drive = plant_drive(rng, rate, events)
        seen.update(drive.planted)
        folder = tmp_path / str(seed)
        folder.mkdir()
        recording = record(drive, folder, rng)
        found, what = recording.laps, f"{wire} {seed}: {drive.planted}"
        assert [(lap.number, lap.valid) for lap in found] == [(number, counts) for number, _, counts in drive.laps], (
            what
        )
        bound = EXACT
        if wire == "counts":
            bound = 2.0 / rate + 2.0 * drive.gap
        elif wire == "positions" and drive.gap > 3.1 / rate:
            bound = 0.1 * drive.gap
        slack = 1.0 / rate if wire in ("drive", "positions") else 0.0  # by position, lap 1 begins with the first sample
        errors = [abs(lap.time_s - time_s) - slack * (lap.number == 1)
                  for lap, (_, time_s, _) in zip(found, drive.laps, strict=True)]  # fmt: skip
        assert max(errors) <= bound, (what, errors)
        expected = [(lap.number, lap.time_s) for lap in found]
        for consumer, laps in list_consumers(recording, located=seed % 20 == 0):
            assert laps == expected, f"{consumer} of {what}"
        if wire in ("forza", "drive"):
            check_rows(recording, drive, folder)
    assert seen == set(events) or step > 1


def check_rows(recording, drive, folder):
    """Check that each lap has one way round, that no undone row is in it, and that beacons are a lap apart."""
    kept = ~recording.undone
    said = sum("are undone" in event.text for event in recording.events)
    assert said == sum(event.startswith("rewind") for event in drive.planted)
    x, y = recording.state["x"], recording.state["y"]
    for lap in recording.laps:
        rows = np.flatnonzero(kept[lap.first : lap.row]) + lap.first
        way = np.hypot(np.diff(x[rows]), np.diff(y[rows])).sum()
        assert way == pytest.approx(LENGTH * (1.0 if lap.valid else 0.6), abs=35.0 * (drive.gap + 0.05))
    frame = load(recording)
    assert not frame["lap"][recording.undone].any()
    assert set(frame["lap"]) - {0.0} == {float(lap.number) for lap in recording.laps}
    export_motec(recording, folder / "a.ld")
    text = (folder / "a.ldx").read_text()
    beacons = [(name, float(time) * 1e-6) for name, time in re.findall(r'Name="(\w+)\.\d+"[^>]*Time="([^"]+)"', text)]
    ends = [at for at, (name, _) in enumerate(beacons) if name == "Lap"]
    for at, lap in zip(ends, recording.laps, strict=True):
        if at and lap.number > 1:
            assert beacons[at][1] - beacons[at - 1][1] == pytest.approx(lap.time_s, abs=EXACT)
    (run,) = RunIndex(folder).list_runs()
    assert run.laps == len(recording.laps)
    assert run.best_s == min((lap.time_s for lap in recording.laps if lap.valid), default=None)


def record_rewound(path):
    """Record a drive with two rewinds, which undo what was driven 5 m beside the circle; return those rows."""
    drive = plant_drive(np.random.default_rng(5), 30.0, ("rewind", "rewind over the line"), laps=3)
    races = [moment.race for moment in drive.moments]
    undone = np.append(np.minimum.accumulate(races[::-1])[::-1][1:], np.inf) < races
    recorder = Recorder(path)
    recorder.start({"sim": "trend"})
    monitor = WireLapScorer(recorder.store_lap, recorder.store_rewind)
    picture = encode_jpeg(np.zeros((24, 32, 3), np.uint8))
    for moment, is_undone in zip(drive.moments, undone, strict=True):
        state, out = moment.make_state(), 1.125 if is_undone else 1.0
        state = replace(state, x=out * state.x, y=out * state.y, velocity_x=state.speed, velocity_y=0.0,
                        speed=state.speed + 50.0 * is_undone, yaw_rate=state.speed / RADIUS, acceleration_x=0.0,
                        acceleration_y=state.speed**2 / RADIUS, image=Image(picture, decode_jpeg))  # fmt: skip
        recorder.tick(state, Controls(steer=0.9 if is_undone else 0.1, throttle=0.5, gear=1))
        monitor.observe_state(state)
    recorder.close()
    assert len(drive.planted) == 2
    return undone


def test_what_was_undone_is_in_nothing_that_learns_or_sums_up(tmp_path):
    path = tmp_path / "a.mcap"
    undone = record_rewound(path)
    kept, recording = np.flatnonzero(~undone), Recording.open(path)
    assert recording.undone.tolist() == undone.tolist()
    options = LearnOptions(source=(path,), out=tmp_path / "map.csv")
    map_road(find("forza"), options)
    road = load_track(options.out).road
    assert road.closed
    assert np.hypot(*road.points(road.stations(), 0.0)[:, :2].T) == pytest.approx(RADIUS, abs=0.3)
    table = read_drive(path, 0)
    assert np.hypot(table.x, table.y) == pytest.approx(RADIUS, abs=0.3)
    assert len(table) > 0.95 * len(kept)
    for answers in (None, np.where(undone, 0.9, 0.1)[:, None] * (1.0, 1.0)):
        chosen = select_rows(RecordingSource(path, answers).read_labels(), 0.4)
        assert not chosen.good[undone].any()
        assert chosen.good[kept[:-60]].mean() > 0.9
        assert chosen.steer[chosen.good] == pytest.approx(0.1)
    assert export_driving_log(recording, tmp_path / "log")["rows"] == len(kept)
    assert {row.steer for row in read_rows(tmp_path / "log", SkippedRows())} == {0.1}
    write_driver(tmp_path / "mine.py", "return Controls(steer=0.1, throttle=0.5)", needs='{"speed"}')
    done = replay_open_loop(recording, OpenLoopOptions(str(tmp_path / "mine.py")))
    assert (done.steer_rms, done.throttle_rms) == (0.0, 0.0)
    made = Recording.open(done.path)
    assert made.undone.tolist() == undone.tolist()
    assert made.list_lap_records() == recording.list_lap_records() != []
    said = re.search(r"top speed (\d+) km/h", write_report(path).read_text(encoding="utf-8"))
    assert float(said[1]) == pytest.approx(3.6 * recording.state["speed"][kept].max(), abs=0.5)
