"""Rules about the source tree that no linter of ours knows."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

from helpers.processes import IMPORTED
from helpers.source_tree import PACKAGE, module_nodes, module_texts, module_trees

from trailbrake.drivers.loading.driver_registry import driver_names

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted(p.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("*.py"))
TEXTS = sorted(
    p
    for folder in ("src", "tests", "docs", "examples", "experiments")
    for p in (ROOT / folder).rglob("*")
    if p.suffix in (".py", ".md", ".toml", ".json", ".html", ".css", ".js") and p != Path(__file__)
) + [p for p in (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile")) if p.is_file()]

MOST_LINES = 500
# Modules without a test file of their own, and the test file that covers each.
TESTED_ELSEWHERE = {
    "cli/bench.py": "bench/test_drive.py",
    "cli/line.py": "optimal/test_line_session.py",
    "cli/listings.py": "cli/test_main.py",
    **{f"sims/{sim}/assumptions.py": "driving/test_verification.py" for sim in ("assetto", "beamng", "forza", "trend")},
    "tasks/task_worker.py": "tasks/test_worker_process.py",
    "optimal/mesh.py": "optimal/test_transcription.py",
    "optimal/interior_point.py": "optimal/test_minimum_time.py",
    "optimal/options.py": "optimal/test_line_session.py",
    "optimal/stage.py": "optimal/test_minimum_time.py",
    "env/catalogue.py": "env/test_gym.py",  # declarations
    "env/options.py": "env/test_batch.py",
    "env/step_kernels.py": "env/test_batch.py",
    "env/restart_kernels.py": "env/test_domain_randomisation.py",
    "env/cuda_kernels.py": "env/test_cuda.py",
    "world/car_placement.py": "world/test_batch.py",
    "kernels/cuda_compiler.py": "world/test_cuda.py",
    "observe/features.py": "observe/test_derived_features.py",
    "observe/observation_kernels.py": "observe/test_task_spec.py",  # the kernels that a program runs
    "observe/rewards.py": "observe/test_task_spec.py",
    "observe/parts.py": "observe/test_task_spec.py",
    "learning/identification/car_file_writer.py": "learning/test_car_learning.py",
    "learning/identification/learned_car.py": "learning/test_car_learning.py",
    "cars/section.py": "cars/test_car_library.py",
    "record/lap_logs/lap_log.py": "record/lap_logs/test_log_columns.py",
    "record/format.py": "record/test_recorder.py",  # declarations
    "event_sims/options.py": "event_sims/test_simulator.py",  # declarations
    "learning/options.py": "cli/test_main.py",  # declarations; the flags made from them are tested
    "driving/options.py": "cli/test_main.py",  # declarations; the flags made from them are tested
    "cli/record.py": "driving/test_session_recording.py",
    "cli/replay.py": "driving/test_session_recording.py",
    "world/miniature/camera/upright_kernels.py": "world/miniature/camera/test_renderer.py",  # kernels
    "world/miniature/camera/ground_kernels.py": "world/miniature/camera/test_renderer.py",
    "cli/train.py": "train/test_clone.py",
    "world/wall_rays.py": "world/test_range_scanner.py",  # kernels of the scanner
}


def only_declares(module):
    """Return whether no function of `module` has a body: protocols, records, constants."""
    nodes = module_nodes()[Path(module)]
    functions = nodes.get(ast.FunctionDef, []) + nodes.get(ast.AsyncFunctionDef, [])
    return all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for node in functions for s in node.body)


def test_a_module_says_what_it_is_and_is_not_too_long():
    silent = [path.as_posix() for path, tree in module_trees().items() if not ast.get_docstring(tree)]
    assert not silent, "no docstring: " + ", ".join(silent)
    long = [path.as_posix() for path, text in module_texts().items() if text.count("\n") > MOST_LINES]
    assert not long, f"more than {MOST_LINES} lines, split: " + ", ".join(long)


def test_every_module_has_its_test_file():
    # Drivers are covered together: `contracts/test_drivers.py` checks each, and that it stands in the golden drives.
    drivers = {f"{name}.py" for name in driver_names()}
    own = [m for m in MODULES if Path(m).name not in ("__init__.py", "__main__.py")]
    own = [m for m in own if not (m.startswith("drivers/") and Path(m).name in drivers)]
    # A simulator's constants are what `contracts/test_simulators.py` looks at.
    own = [m for m in own if not only_declares(m)]
    own = [m for m in own if not re.fullmatch(r"sims/\w+/spec\.py", m)]
    wanted = {m: TESTED_ELSEWHERE.get(m, (Path(m).parent / f"test_{Path(m).name}").as_posix()) for m in own}
    missing = [f"{m} -> tests/{test}" for m, test in wanted.items() if not (ROOT / "tests" / test).is_file()]
    assert not missing, "modules without a test file:\n" + "\n".join(missing)


def test_the_exceptions_are_still_needed():
    for module, test in TESTED_ELSEWHERE.items():
        assert module in MODULES, f"{module} is gone"
        own = Path(module).parent / f"test_{Path(module).name}"
        assert own.as_posix() == test or not (ROOT / "tests" / own).is_file(), f"{module} has its own test file now"


def test_no_modules_import_each_other_in_a_circle():
    """Which of them is imported first would decide whether the import succeeds. Imports in functions do not count."""
    names = {Path(m).with_suffix("").as_posix().removesuffix("/__init__").replace("/", "."): m for m in MODULES}
    graph = {}
    for name, module in names.items():
        froms = [node for node in module_trees()[Path(module)].body if isinstance(node, ast.ImportFrom) and node.module]
        taken = [f"{node.module}.{alias.name}".removeprefix("trailbrake.") for node in froms for alias in node.names]
        graph[name] = {part if part in names else part.rpartition(".")[0] for part in taken} - {name}
    TopologicalSorter(graph).prepare()  # raises and names the circle


def test_nothing_is_left_half_done_and_no_file_knows_a_machine():
    unfinished = r"\b(?:TODO|FIXME|XXX|HACK|NotImplementedError)\b"
    machine = r"(?<![\w.])/(?:work|root|home|Users|mnt|private)/\w|[A-Z]:\\Users"
    either = re.compile(f"{unfinished}|{machine}")
    found = []
    for path in TEXTS:
        text = path.read_text(encoding="utf-8")
        for match in either.finditer(text):
            number = text.count("\n", 0, match.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{number}: {text.splitlines()[number - 1].strip()}")
    assert not found, "\n".join(found)


def test_links_in_the_documents_lead_somewhere():
    """Also to a heading that exists, by the anchors that both the site and a forge make of titles."""
    link = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
    for path in (p for p in TEXTS if p.suffix == ".md"):
        for target, anchor in link.findall(path.read_text(encoding="utf-8")):
            if "://" in target:
                continue
            page = path.parent / target if target else path
            assert page.exists(), f"{path.name}: {target}"
            if anchor and page.suffix == ".md":
                assert anchor in anchors_of(page), f"{path.name}: {target}#{anchor}"
                if page.name == "README.md":  # the site has index.md in its place
                    assert anchor in anchors_of(ROOT / "docs" / "index.md"), f"{path.name}: {anchor} on the site"


@cache
def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S), re.M)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "") for title in titles)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in plain}


def test_files_of_users_are_opened_in_one_place():
    # Our own assets, files that we have written ourselves, and pages that both ends share are no files of users.
    own = {
        "user_files.py", "bench/assetto.py", "bench/rows.py", "pages/rendering.py", "race/heat.py",
        "race/competitor_process.py", "race/heat_supervisor.py", "drivers/loading/fmu_export.py",
        "transport/rendezvous.py", "race/entry_confinement.py",
        "system/confinement.py",  # the table of processes
        "system/drive_guard.py",
        "record/mcap_scan.py",  # read in a recording that has been opened there
        "evaluate/suite.py", "evaluate/overtaking/scenes.py",  # of this package
        "tracks/layout.py",  # a method of a table of TOML
        "sims/assetto/diagnosis_snapshots.py", "sims/assetto/proton/page_bindings.py",
        "sims/assetto/proton/windows_bridge.py", "tracks/track_library.py", "world/miniature/track_library.py",
        "world/miniature/camera/track_look.py", "record/lap_logs/channel_names.py",
    }  # fmt: skip
    opens = re.compile(r"\.read_bytes\(|(?<!top)\.read_text\(|\.open\(\"r|\bopen\([^)]*\"rb\"|\.open\(encoding")
    found = [
        path.as_posix() for path, text in module_texts().items() if opens.search(text) and "kernels" not in path.parts
    ]
    strange = sorted(set(found) - own)
    assert not strange, "use trailbrake.user_files: " + ", ".join(strange)


def test_what_programs_of_tests_have_imported_is_there():
    """The process that they are forked from passes over a module that it does not find."""
    assert all(find_spec(name) for name in IMPORTED)
