"""Targets: the files that users and games give us, through the functions that load them."""

import contextlib
import copy
import dataclasses
import io
import json
import os
import struct
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from mcap.opcode import Opcode

from fuzz.fuzz_target import SEEDS, FuzzTarget, scratch_folder, with_file
from fuzz.wire_targets import INTEGERS, JSON, split_pieces
from trailbrake.analysis.report import render_report
from trailbrake.campaign.case_run import CaseStore
from trailbrake.cars.car_library import load_car
from trailbrake.coaching.coached_sessions import CoachedSession, list_session_rows, render_sessions
from trailbrake.dashboard.coach_choice import choose_target
from trailbrake.dashboard.live_coach import LiveCoach
from trailbrake.drivers.cruise import Driver as Cruise
from trailbrake.drivers.loading.gains import build_gains, read_gains
from trailbrake.drivers.loading.policy import read_policy
from trailbrake.driving.session.drive_inputs import read_contents
from trailbrake.driving.session.driver_memory import read_memory
from trailbrake.driving.session.line_choice import choose_line
from trailbrake.driving.spec import CarSpec, parse_spec, read_spec, write_spec
from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.evaluate.cell_result import CellResult
from trailbrake.evaluate.evaluation import build_rows
from trailbrake.evaluate.plan import Cell, PlannedCell
from trailbrake.evaluate.suite import Suite, SuiteCell
from trailbrake.evaluate.suite_evaluation import _plan_again, compare_runs, digest_suite, read_suite_run
from trailbrake.learning.learning_journal import LearningStep
from trailbrake.learning.road_mapping import _read_survey
from trailbrake.planning.course import Course
from trailbrake.planning.lap_learning import read_plan_memory
from trailbrake.planning.line_file import read_line
from trailbrake.race.leaderboard_page import build_page
from trailbrake.race.plan import read_plan
from trailbrake.race.result_store import ResultStore
from trailbrake.race.schedule import read_named_file
from trailbrake.race.standings import build_leaderboard
from trailbrake.record.csv_files import is_drive_table, read_csv_columns
from trailbrake.record.driving_log import SkippedRows, read_usable_rows
from trailbrake.record.format import ABOUT
from trailbrake.record.lap_logs.channel_names import read_channel_names
from trailbrake.record.lap_logs.log_import import interpret_log
from trailbrake.record.mcap_scan import scan_file
from trailbrake.record.parted_file import load_attachment
from trailbrake.record.recording_reader import Recording
from trailbrake.record.run_index import RunIndex, read_tags
from trailbrake.sims import registry
from trailbrake.sims.assetto.install import fast_lane, ini, surfaces
from trailbrake.sims.assetto.install.file_edits import read_if_exists
from trailbrake.sims.assetto.install.installation import find_installation
from trailbrake.sims.assetto.install.lane_conversion import track_from_lane
from trailbrake.sims.assetto.proton.bridge_process import find_prefix_runner
from trailbrake.sims.assetto.session_detection import load_game_car
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.beamng.signal_contract import load_contract
from trailbrake.sims.beamng.signal_format import SignalListFormat
from trailbrake.sims.forza import raw
from trailbrake.sims.forza.recorder_settings import load_settings
from trailbrake.sims.forza.replay import is_recorded_session, open_session
from trailbrake.state import CarState
from trailbrake.tracks.track_library import load_track
from trailbrake.train.rl.checkpoint import _describe_learner, read_checkpoint
from trailbrake.train.rl.curves import read_curves
from trailbrake.train.rl.options import RlOptions
from trailbrake.train.sources import LogSource
from trailbrake.user_files import is_regular_file, parse_json, read_user_file
from trailbrake.world.miniature.track_library import load_miniature_track

_RECORD = struct.Struct("<BQ")
TOML = (
    b"[", b"]", b"[[", b"]]", b"{", b"}", b"=", b".", b",", b'"', b'"""', b"'''", b"#", b"\n", b"true", b"nan", b"-inf",
    b"1e999", b"0x" + b"f" * 40, b"9" * 400, b"9" * 4400, b"1979-05-27T07:32:00Z", b"99:99:99", b"-0", b"\\uD800",
)  # fmt: skip
YAML = (
    b": ", b"- ", b"\n", b"&a ", b"*a", b"<<: ", b"!!int ", b"!!bool x", b"!!float ''", b"!!timestamp x", b"!!set ",
    b"!!python/object:os.system ", b"[", b"]", b"{", b"}", b"? ", b"|\n", b">\n", b"1:60:60", b"0b", b"2001-99-99",
    b"%YAML 9.9\n", b"---\n", b"...\n", b"9" * 4400, b".inf", b".nan",
)  # fmt: skip
CSV = (b",", b";", b"\t", b"\n", b"\r\n", b'"', b"nan", b"inf", b"1e999", b"-", b"\xef\xbb\xbf", b"#", b"9" * 400)
XML = (b"<", b"</", b"/>", b">", b"&lt;", b"&#0;", b"<!--", b"<![CDATA[", b"<!DOCTYPE a>", b"xmlns:a='b'", b"\xff",
       b"<trkpt", b"<when>", b"1e999", b"nan")  # fmt: skip
INI = (b"[SURFACE_0]", b"[SURFACE_\xb2]", b"[", b"]", b"=", b";", b"\r\n", b"\t", b" ", b"WAV_PITCH=", b"\xef\xbb\xbf")


def load_gains(path: Path) -> None:
    for table in read_gains(path).values():
        build_gains(Cruise.Gains, table, str(path))


def load_drive(path: Path) -> None:
    """Read a drive, write it as a recording has it, and make the options of its wire."""
    spec = read_spec(path)
    assert parse_spec(write_spec(spec), "written") == spec
    registry.find("beamng").make_live_options(spec.site.options)


def follow_recorded_line(data: bytes) -> None:
    """Read what a drive was made of as a recording has it, and follow its line."""
    try:
        contents = read_contents(parse_json(data, "inputs"), "fuzz")
    except UnicodeDecodeError:
        raise DataError("no text") from None
    course = Course(load_track("lakeside"), load_car("gt3"))
    choose_line(course, Cruise(), CarSpec(), lambda text: None, contents.line)


def load_journal(path: Path) -> None:
    """Read what a learning has driven; a file that cannot be used counts as missing."""
    steps = read_case(path.read_bytes(), list[LearningStep])
    steps_there = [step for step in steps if os.path.isfile(step.recording)]
    assert not steps_there


def load_memory(path: Path) -> None:
    for entry in read_memory(path):
        read_plan_memory(entry.memory, str(path))


def read_case(data: bytes, kind: type[Any]) -> Any:
    """Return the result of a case in a file of a store; DataError where it counts as missing."""
    folder = scratch_folder() / "cases"
    store = CaseStore(folder, kind, any_source=True)
    (folder / f"{'a' * 24}.json").write_bytes(data)
    result = store.read_result("a" * 24)
    if result is None:
        raise DataError("no result")
    return result


CELL = Cell(sim="assetto", track="hartmoor", car="gt3", driver="line_follow")


def read_cell_result(data: bytes) -> None:
    """Read the result of a cell as an evaluation that resumes does."""
    result = read_case(data, CellResult)
    planned = PlannedCell(CELL, "judged", reference=CELL, baseline=CELL)
    build_rows([planned], {CELL: result})


def read_session(data: bytes) -> None:
    """Read a kept session of the coach as `coach --history`, the coach's page and `watch --coach` do."""
    session = read_case(data, CoachedSession)
    list_session_rows([session])
    render_sessions([session, session])
    road = load_track("lakeside").road
    choice = choose_target([session] if session.target is not None else [], CarState(x=0.0, y=0.0), road, is_named=True)
    if session.target is not None:
        coach = LiveCoach(road, choice._replace(target=session.target))
        coach.add_sample(CarState(time=1.0, x=0.0, y=0.0, speed=20.0, lap=1, lap_time=1.0), 1.0)
        coach.ghosts_at(1.0)


PRESENT = b"PRESENT"  # in a seed: what depends on the code of today
SUITE = Suite(name="fuzz", text="", sim="assetto", seed=0, laps=2, slowest_ratio=2.0, reference_command="",
              cells=(SuiteCell(track="plain", car="gt3", reference_s=9.5),))  # fmt: skip


def check_suite_run(data: bytes) -> None:
    """Read the result of a suite as `evaluate --check` does, up to the drives, and compare it with itself."""
    path = scratch_folder() / "fuzz_suite.json"
    path.write_bytes(data.replace(PRESENT, digest_suite(SUITE).encode()))
    run = read_suite_run(path, SUITE)
    _plan_again(run, SUITE, path)
    assert compare_runs(run, {item.cell: item.result for item in run.runs})["cells"] == len(run.runs)


def resume_training(data: bytes) -> None:
    """The pieces are the header and the arrays of a checkpoint, in an archive whose checksums are right."""
    path, options = scratch_folder() / "fuzz_checkpoint.npz", RlOptions()
    header, *pieces = split_pieces(data) or [b""]
    learner = json.dumps(_describe_learner(options)).encode()
    text = header.replace(b'"%s"' % PRESENT, learner).decode("utf-8", "replace")
    with zipfile.ZipFile(path, "w") as archive:
        packed = io.BytesIO()
        np.save(packed, np.array(text))
        archive.writestr("header.npy", packed.getvalue())
        for number, piece in enumerate(pieces):
            archive.writestr(f"state.{number}.npy", piece)
    progress, state = read_checkpoint(path, options)
    assert all(type(value) in (int, float) for value in dataclasses.asdict(progress).values())
    assert all(values.dtype.kind in "biuf" for values in state.values())


def read_training_curves(path: Path) -> None:
    if not all(type(row["iteration"]) is int for row in read_curves(path)):
        raise AssertionError("a line without its iteration")


def change_ini(data: bytes) -> None:
    """Set a value and permit: the result reads as it was set, and setting it again changes nothing."""
    once = ini.set_value(data, "CUSTOM_AI", "ENABLED", "1")
    assert ini.parse_ini(once)["CUSTOM_AI"]["ENABLED"] == "1"
    assert ini.set_value(once, "CUSTOM_AI", "ENABLED", "1") == once
    surfaces.decode_surfaces(surfaces.permit_custom_ai(data, extended=True))


def load_described_car(path: Path) -> None:
    session = acpmf.Static(car_model="fuzz_car", max_rpm=8000)
    load_game_car(path.parents[4], session, lambda line: None)


def load_lane(path: Path) -> None:
    lane = fast_lane.read_fast_lane(path)
    assert len(fast_lane.encode_fast_lane(lane)) <= path.stat().st_size
    _ = lane.speed
    track_from_lane(lane, "fuzz", str(path))


def find_by_list(path: Path) -> None:
    find_installation(home=path.parent, environ={}, steam=[path.parent.parent])


def find_proton(path: Path) -> None:
    game = path.parents[2] / "common" / "assettocorsa"
    (game / "content" / "tracks").mkdir(parents=True, exist_ok=True)
    find_prefix_runner(game, None, None)


def read_raw_recording(path: Path) -> None:
    count = sum(1 for _ in raw.read_raw(path))
    assert sum(map(len, raw.read_arrays(path).values())) <= count


def read_table(path: Path) -> None:
    is_recorded_session(path)
    session = open_session(path)
    for _ in zip(range(50), session.datagrams, strict=False):
        pass


def read_contract(path: Path) -> None:
    SignalListFormat(load_contract(path))


def read_recording(path: Path) -> None:
    recording = Recording.open(path)
    assert len(recording.state["time"]) == len(recording) == len(recording.controls["steer"])
    _ = recording.truncated, recording.laps, recording.events, recording.road_map, recording.plan, recording.requests
    _ = dict(recording.signals), recording.about, recording.wire
    indexed = Recording.open(path, verify=False)
    assert len(indexed.row_times) == len(indexed) == len(indexed.state["time"])
    _ = indexed.laps, dict(indexed.signals)
    for _ in recording.pictures():
        pass


def report_recording(recording: Recording) -> None:
    """Render the report, if there is a tick; it is written as UTF-8, and may end no tag and no script."""
    page = render_report(recording)
    page.encode("utf-8", "backslashreplace")
    assert page.count("</script>") == _count_script_ends()
    assert "<fuzz" not in page  # in the seeds, which a mutation may put anywhere


@cache
def _count_script_ends() -> int:
    return render_report(_open_seed()).count("</script>")


@cache
def _open_seed() -> Recording:
    path = scratch_folder() / "fuzz_seed.mcap"
    path.write_bytes((SEEDS / "recording" / "signals").read_bytes())
    return Recording.open(path)


def report_about(data: bytes) -> None:
    """The bytes are about.json of a recording."""
    recording = copy.copy(_open_seed())
    recording.about = load_attachment(SimpleNamespace(attachments={ABOUT: data}), ABOUT)
    report_recording(recording)


def report_records(data: bytes) -> None:
    """The bytes are the records of the only chunk of a recording."""
    report_recording(Recording.open(_write_records(data)))


def read_drive_table(path: Path) -> None:
    """Read a CSV of a drive, whether it is chosen as one or not."""
    is_drive_table(path)
    read_csv_columns(path)


def read_beacons(path: Path) -> None:
    """Read an .ldx file beside a good log."""
    path.with_suffix(".ld").write_bytes((SEEDS / "lap_log_ld" / "channels").read_bytes())
    interpret_log(path.with_suffix(".ld"))


def read_geo_file(path: Path) -> None:
    """Read a file as a road, as what a road is learned from, and as laps."""
    for load in (load_track, _read_survey):
        with contextlib.suppress(DataError):
            load(path)
    interpret_log(path)


def read_log(path: Path) -> None:
    picture = path.parent / "IMG" / "a.jpg"
    if not picture.exists():
        picture.parent.mkdir(exist_ok=True)
        picture.write_bytes(b"\xff\xd8")
    rows = list(read_usable_rows(path.parent, SkippedRows()))
    source = LogSource(path.parent, Counter())
    assert len(source.read_labels()) == len(rows)
    list(source.read_pictures(range(3)))


def list_indexed_runs(path: Path) -> None:
    """Open an index of runs, bring it in line with its folder, and list it."""
    with contextlib.closing(RunIndex(path.parent)) as index:
        index.list_runs()


def read_results(path: Path) -> None:
    with ResultStore(path) as store:
        for season in store.list_seasons():
            days = store.read_days(season)[1]
            for number in range(1, len(days) + 1):
                store.read_fingerprints(number)
            page = build_page(build_leaderboard(season, days), path.parent)
            page.encode("utf-8", "strict")
            assert "<fuzz" not in page


def read_training_picture(data: bytes) -> None:
    from trailbrake.transport import image_codec
    from trailbrake.transport.capture import picture_scaling

    image_codec.decode_pixels(data)
    # It reads only what we wrote ourselves; its caller catches what a damaged recording raises.
    with contextlib.suppress(OSError, ValueError, SyntaxError):
        picture_scaling.decode_jpeg(data)


def read_policy_arrays(data: bytes) -> None:
    """The pieces are the arrays of a policy, in an archive whose checksums are right."""
    path = scratch_folder() / "fuzz_arrays.npz"
    names = ("header", "weight0", "bias0", "weight1", "bias1")
    with zipfile.ZipFile(path, "w") as archive:
        for name, piece in zip(names, split_pieces(data), strict=False):
            archive.writestr(f"{name}.npy", piece)
    read_policy(path)


@cache
def _recording_head() -> bytes:
    """Return a recording up to its first chunk: the magic, the schemas, the channels."""
    seed = (SEEDS / "recording" / "drive").read_bytes()
    return seed[: scan_file(io.BytesIO(seed)).chunks[0].offset - _RECORD.size]


def _write_records(data: bytes) -> Path:
    """Write a recording whose only chunk has these records, and is neither packed nor has a checksum."""
    chunk = struct.pack("<QQQIIQ", 0, 1, len(data), 0, 0, len(data)) + data
    path = scratch_folder() / "fuzz_records.mcap"
    path.write_bytes(_recording_head() + _RECORD.pack(Opcode.CHUNK, len(chunk)) + chunk)
    return path


def read_recording_records(data: bytes) -> None:
    """The bytes are the records of the only chunk of a recording."""
    read_recording(_write_records(data))


def read_fmu(data: bytes) -> None:
    """The bytes are the modelDescription.xml of an archive, or the archive itself."""
    from trailbrake.drivers.loading.fmu import FmuDriver, check_archive

    path = scratch_folder() / "fuzz.fmu"
    if data[:2] != b"PK":
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("modelDescription.xml", data)
        data = packed.getvalue()
    path.write_bytes(data)
    check_archive(path)  # the driver does so too, where FMPy is installed
    FmuDriver(path)


def read_any_file(path: Path) -> None:
    assert is_regular_file(path)
    read_named_file(str(path), path.parent)
    read_if_exists(path)
    with contextlib.suppress(TrailbrakeError):
        read_user_file(path, "file", 100)
    if not read_user_file(path, "file"):
        raise DataError("empty")


def _file(name: str, path: str, load: Any, tokens: tuple[bytes, ...], size: int = 4096, cases: int = 60) -> FuzzTarget:
    return FuzzTarget(name, with_file(f"{name}/{path}", load), tokens, size, cases)


FILE_TARGETS = [
    _file("car_file", "fuzz.toml", load_car, TOML, 12_000),
    _file("gains_file", "fuzz.toml", load_gains, TOML, 8192),
    _file("drive_file", "fuzz.toml", load_drive, TOML, 4096),
    FuzzTarget("drive_inputs", follow_recorded_line, JSON, 8192),
    _file("learning_journal", "fuzz.learning.json", load_journal, JSON, 4096),
    _file("driver_memory", "fuzz.json", load_memory, JSON, 4096),
    FuzzTarget("cell_result", read_cell_result, JSON, 4096, 40),
    FuzzTarget("coached_session", read_session, JSON, 8192, 40),
    FuzzTarget("suite_run", check_suite_run, JSON, 4096),
    FuzzTarget("training_checkpoint", resume_training, (b"<f4", b"|O", b"|S9", *JSON), 4096),
    _file("training_curves", "progress.jsonl", read_training_curves, (*JSON, b"\n"), 4096),
    _file("race_file", "fuzz.toml", read_plan, TOML, 8192),
    _file("track_toml", "fuzz.toml", load_track, TOML, 8192),
    _file("track_csv", "fuzz.csv", load_track, CSV, 8192),
    _file("road_csv", "fuzz.csv", load_track, CSV, 8192),
    _file("line_csv", "fuzz.csv", read_line, (*CSV, *JSON), 8192),
    _file("miniature_toml", "fuzz.toml", load_miniature_track, TOML, 4096, 40),
    _file("settings_yaml", "fuzz.yaml", load_settings, YAML, 8192),
    FuzzTarget("ini_files", change_ini, INI, 4096),
    _file("car_description", "content/cars/fuzz_car/ui/ui_car.json", load_described_car, JSON),
    _file("proton_config", "steamapps/compatdata/244210/config_info", find_proton, (b"/files/", b"/dist/", b"\n")),
    _file("fast_lane", "fast_lane.ai", load_lane, INTEGERS, 4096, 40),
    _file("steam_libraries", "steamapps/libraryfolders.vdf", find_by_list, (b'"', b'"path"', b"\\", b"\t", b"\n")),
    _file("forza_raw", "fuzz.forza", read_raw_recording, INTEGERS, 4096),
    _file("forza_table", "fuzz.csv", read_table, (*CSV, b"\x1f\x8b\x08"), 8192),
    _file("beamng_contract", "contract.csv", read_contract, CSV, 8192),
    _file("recording", "fuzz.mcap", read_recording, INTEGERS, 40_000, 40),
    _file("drive_table", "drive.csv", read_drive_table, (*CSV, b"time_s", b"nan", b"1e400"), 8192),
    _file("lap_log_csv", "laps.csv", interpret_log, (*CSV, b"[km/h]", b"(deg)", b"1:02:03", b"Z"), 12_000, 40),
    _file("lap_log_ld", "laps.ld", interpret_log, INTEGERS, 12_000, 40),
    _file("lap_log_ldx", "laps.ldx", read_beacons, (b'Time="', b"<MarkerGroup", b'"', b"1e999", b"-1"), 4096, 40),
    _file("lap_log_ibt", "laps.ibt", interpret_log, INTEGERS, 16_000, 40),
    _file("lap_log_nmea", "laps.nmea", interpret_log, (b"$", b"*", b",", b"GPRMC", b"A", b"\r\n", b"99"), 8192),
    _file("geo_gpx", "road.gpx", read_geo_file, XML, 8192, 40),
    _file("geo_kml", "road.kml", read_geo_file, XML, 8192, 40),
    _file("lap_channels", "lap_channels.toml", read_channel_names, TOML, 4096),
    _file("driving_log", "driving_log.csv", read_log, (*CSV, b"IMG/a.jpg", b"0,5"), 4096),
    FuzzTarget("policy_arrays", read_policy_arrays, (b"'fortran_order': True", b"<f4", b"|O", *JSON), 4096, 40),
    FuzzTarget("report_about", report_about, (*JSON, b"</script>", b"<fuzz>"), 4096, 40),
    FuzzTarget("report_records", report_records, INTEGERS, 20_000, 20),
    FuzzTarget("recording_records", read_recording_records, INTEGERS, 20_000, 40),
    _file("policy_file", "fuzz.npz", read_policy, (b"PK\x01\x02", b"PK\x03\x04", b"\x93NUMPY", *INTEGERS), 16_000, 40),
    _file("results_sqlite", "races.sqlite", read_results, INTEGERS, 40_000, 40),
    _file("runs_sqlite", "runs.sqlite", list_indexed_runs, INTEGERS, 40_000, 40),
    _file("run_tags", "fuzz.tags", read_tags, (b"\n", b"\xff"), 4096),
    FuzzTarget("training_picture", read_training_picture, (b"\xff\xd8\xff", b"IHDR", b"IDAT"), 4096),
    # Without FMPy it is refused, which is one line as well.
    FuzzTarget("fmu_file", read_fmu, (b"<", b"/>", b"&a;", b"<!ENTITY ", b'="'), 8192, 20),
    _file("any_file", "fuzz", read_any_file, (), 2_000),
]
