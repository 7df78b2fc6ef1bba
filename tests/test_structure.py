"""Rules about the source tree that no linter of ours knows."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "trailbrake"
MODULES = sorted(p.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("*.py"))
TEXTS = sorted(
    p
    for folder in ("src", "tests", "docs", "examples")
    for p in (ROOT / folder).rglob("*")
    if p.suffix in (".py", ".md", ".toml", ".json", ".html", ".css", ".js") and p != Path(__file__)
) + [p for p in (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile")) if p.is_file()]

MOST_LINES = 500
# Modules without a test file of their own, and the test file that covers each.
TESTED_ELSEWHERE = {
    "roles.py": "contracts/test_simulators.py",  # protocols
    "analysis/traces.py": "analysis/test_report.py",
    "bench/clients_rows.py": "bench/test_assetto.py",
    "bench/rows.py": "bench/test_drive.py",
    "cli/bench.py": "bench/test_drive.py",
    "cli/learn.py": "run/test_learn.py",
    "cli/pad_check.py": "run/test_pad_check.py",
    "cli/tune.py": "run/test_tune.py",
    "cli/watch.py": "dashboard/test_watch.py",
    "dashboard/board.py": "dashboard/test_server.py",
    "dashboard/options.py": "dashboard/test_watching.py",  # declarations
    "cli/lists.py": "cli/test_main.py",
    "drivers/brake_test_seed.py": "drivers/test_brake_test.py",
    "drivers/double_lane_change_seed.py": "drivers/test_double_lane_change.py",
    "drivers/heading_hold.py": "drivers/test_speed_hold.py",
    "drivers/heading_hold_seed.py": "drivers/test_speed_hold_seed.py",
    "drivers/heading_hold_torque.py": "drivers/test_speed_hold.py",
    "drivers/speed_hold_torque.py": "drivers/test_speed_hold.py",
    "drivers/speed_hold_torque_seed.py": "drivers/test_speed_hold_seed.py",
    "env/catalogue.py": "env/test_gym.py",  # declarations
    "env/field.py": "env/test_batch.py",
    "env/options.py": "env/test_batch.py",
    "env/sense.py": "env/test_batch.py",
    "env/start.py": "env/test_batch.py",
    "kernels/device.py": "world/test_cuda.py",
    "observe/actions.py": "observe/test_program.py",  # declarations
    "observe/columns.py": "observe/test_derive.py",
    "observe/fill.py": "observe/test_program.py",  # the kernels that a program runs
    "observe/judge.py": "observe/test_program.py",
    "observe/parts.py": "observe/test_program.py",
    "cars/chassis.py": "cars/test_params.py",
    "cars/checks.py": "cars/test_load.py",
    "cars/drivetrain.py": "cars/test_params.py",
    "cars/section.py": "cars/test_load.py",
    "cars/tyre_params.py": "cars/test_params.py",
    "drivers/cruise.py": "drivers/test_lane_drivers.py",
    "drivers/cruise_seed.py": "drivers/test_seeds.py",
    "drivers/curvature_cut.py": "drivers/test_lane_drivers.py",
    "drivers/curvature_cut_seed.py": "drivers/test_seeds.py",
    "drivers/survey.py": "run/test_learn.py",
    "drivers/lane_keep.py": "drivers/test_lane_drivers.py",
    "drivers/lane_keep_seed.py": "drivers/test_seeds.py",
    "drivers/lane_pid.py": "drivers/test_line_drivers.py",
    "drivers/road_sight.py": "drivers/test_line_drivers.py",
    "drivers/waypoint_follow.py": "drivers/test_line_drivers.py",
    "drivers/lane_sign.py": "drivers/test_camera_drivers.py",
    "drivers/wall_follow.py": "drivers/test_camera_drivers.py",
    "drivers/wall_follow_seed.py": "drivers/test_camera_drivers.py",
    "record/container.py": "record/test_recorder.py",
    "record/export.py": "record/test_csv_export.py",
    "record/format.py": "record/test_recorder.py",
    "record/migrate.py": "record/test_recording_reader.py",
    "record/names.py": "record/test_recorder.py",
    "record/reader.py": "record/test_recording_reader.py",
    "record/scan.py": "record/test_recording_reader.py",
    "record/threaded.py": "record/test_recorder.py",
    "record/writer.py": "record/test_recorder.py",
    "findings.py": "cli/test_per_sim.py",  # declarations
    "run/show.py": "run/test_session.py",  # a protocol, and one that does nothing
    "run/options.py": "cli/test_main.py",  # declarations; the flags made from them are tested
    "sims/assetto/slot.py": "sims/assetto/test_host.py",
    "sims/assetto/spec.py": "contracts/test_simulators.py",
    "cli/record.py": "run/test_record.py",
    "cli/replay.py": "run/test_record.py",
    "sims/forza/spec.py": "contracts/test_simulators.py",
    "sims/forza/columns.py": "sims/forza/test_tables.py",
    "sims/forza/sources.py": "sims/forza/test_replay.py",
    "sims/trend/spec.py": "contracts/test_simulators.py",
    "sims/donkeycar/host.py": "sims/donkeycar/test_session.py",
    "sims/donkeycar/link.py": "sims/donkeycar/test_session.py",
    "sims/donkeycar/spec.py": "contracts/test_simulators.py",
    "sims/donkeycar/doctor.py": "sims/donkeycar/test_session.py",
    "sims/udacity/host.py": "sims/udacity/test_session.py",
    "sims/udacity/link.py": "sims/udacity/test_session.py",
    "sims/udacity/spec.py": "contracts/test_simulators.py",
    "sims/udacity/doctor.py": "exchange/test_doctor.py",
    "sims/udacity_mpc/host.py": "sims/udacity_mpc/test_session.py",
    "sims/udacity_mpc/link.py": "sims/udacity_mpc/test_session.py",
    "sims/udacity_mpc/spec.py": "contracts/test_simulators.py",
    "sims/udacity_mpc/doctor.py": "exchange/test_doctor.py",
    "sims/udacity_pid/host.py": "sims/udacity_pid/test_session.py",
    "sims/udacity_pid/link.py": "sims/udacity_pid/test_session.py",
    "sims/udacity_pid/spec.py": "contracts/test_simulators.py",
    "sims/udacity_pid/doctor.py": "exchange/test_doctor.py",
    "sims/beamng/contract.py": "sims/beamng/test_signals.py",
    "sims/beamng/coupling.py": "sims/beamng/test_host.py",
    "sims/beamng/debug.py": "sims/beamng/test_host.py",
    "sims/beamng/dialect.py": "sims/beamng/test_signals.py",
    "sims/beamng/spec.py": "contracts/test_simulators.py",
    "state/car.py": "state/test_fields.py",
    "state/controls.py": "state/test_fields.py",
    "tracks/columns.py": "tracks/test_road.py",  # names of table columns
    "tracks/layout.py": "tracks/test_build.py",
    "tracks/load.py": "tracks/test_library.py",
    "tracks/track.py": "tracks/test_library.py",
    "world/camera/boards.py": "world/camera/test_view.py",  # the kernels behind the pictures
    "world/camera/road.py": "world/camera/test_view.py",
    "tracks/miniature/load.py": "tracks/miniature/test_library.py",
    "cli/train.py": "train/test_clone.py",
    "train/options.py": "train/test_clone.py",  # declarations
    "world/funnel.py": "world/test_scanner.py",  # kernels of the scanner
    "world/look.py": "world/test_ground.py",
    "world/publish.py": "world/test_plant.py",
    "world/substep.py": "world/test_integrate.py",
}


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("module", MODULES)
def test_a_module_says_what_it_is_and_is_not_too_long(module):
    text = (PACKAGE / module).read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "no docstring"
    assert text.count("\n") <= MOST_LINES, f"more than {MOST_LINES} lines: split it"


def test_every_module_has_its_test_file():
    own = [m for m in MODULES if Path(m).name not in ("__init__.py", "__main__.py")]
    wanted = {m: TESTED_ELSEWHERE.get(m, (Path(m).parent / f"test_{Path(m).name}").as_posix()) for m in own}
    missing = [f"{m} -> tests/{test}" for m, test in wanted.items() if not (ROOT / "tests" / test).is_file()]
    assert not missing, "modules without a test file:\n" + "\n".join(missing)


def test_the_exceptions_are_still_needed():
    for module, test in TESTED_ELSEWHERE.items():
        assert module in MODULES, f"{module} is gone"
        own = Path(module).parent / f"test_{Path(module).name}"
        assert own.as_posix() == test or not (ROOT / "tests" / own).is_file(), f"{module} has its own test file now"


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_nothing_is_left_half_done_and_no_file_knows_a_machine(path):
    unfinished = re.compile(r"\b(TODO|FIXME|XXX|HACK|NotImplementedError)\b")
    machine = re.compile(r"(?<![\w.])/(work|root|home|Users|mnt|private)/\w|[A-Z]:\\Users")
    for number, line in enumerate(lines(path), 1):
        assert not unfinished.search(line), f"line {number}: {line.strip()}"
        assert not machine.search(line), f"line {number}: {line.strip()}"


def test_links_in_the_documents_lead_somewhere():
    link = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
    for path in (p for p in TEXTS if p.suffix == ".md"):
        for target in link.findall(path.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (path.parent / target).exists(), f"{path.name}: {target}"
