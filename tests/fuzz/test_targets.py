"""Every target on its seeds and on cases made of them; every decoder in the tree has a target."""

import ast
import importlib.util
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers.source_tree import PACKAGE, module_nodes
from hypothesis import find, given, settings

from fuzz.__main__ import main
from fuzz.cases import build_cases
from fuzz.fuzz_target import SEEDS, FindingError, FuzzTarget
from fuzz.targets import TARGETS
from trailbrake.errors import DataError

EACH = [pytest.param(target, id=name) for name, target in TARGETS.items()]
REPEATED = 40_000  # bytes: time that grows with their square would be minutes
# What a text may be made of, over and over.
PIECES = (b" ", b"\n", b"\t", b'"', b"a", b"0", b".", b"a.", b",", b"[", b"{", b"(", b"\\", b"=", b"'", b"\n{", b'{"')

# Calls that turn bytes of others into values: a function with one of them is a decoder or a loader.
PRIMITIVES = {
    "unpack", "unpack_from", "iter_unpack", "frombuffer", "loads", "b64decode", "read_user_file", "read_user_text",
    "open_user_file", "parse_toml", "parse_yaml", "parse_json", "ReadDataStream", "decompress", "ZipFile",
    "json.decode", "toml.decode", "csv.reader", "np.load", "Image.open", "Picture.open", "sqlite3.connect",
    "gzip.open", "read_model_description", "from_bytes", "fromstring", "literal_eval",
}  # fmt: skip
WITHOUT_TARGET = {
    # Our own files and processes: what they hold is written by this package, in folders of this user.
    "race/heat.py": "the job that the race day wrote for its own heat, and the mark of a heat of ours",
    "race/heat_supervisor.py": "the results that a heat of ours wrote",
    "world/miniature/camera/track_look.py": "the package's own data",
    "driving/session/open_connection.py": "the last report of our own host process",
    "driving/world_view.py": "messages of our own window process",
    "driving/supervised/car_messages.py": "messages between a program and the process of ours that it has started",
    "sims/assetto/proton/page_bindings.py": "the board that our own two ends of the bridge share",
    "sims/assetto/proton/windows_bridge.py": "the same board, under wine",
    "cli/check.py": "which loader takes a file, by its first bytes or keys; the loaders have targets",
    "bench/assetto.py": "pages of a host that the benchmark started",
    "bench/beamng.py": "messages of the benchmark's own host",
    "drivers/loading/fmu_export.py": "the archive that it has built itself",
    "train/clone_sweep.py": "policies of our own sweep, and trainings that it wrote for its own workers",
    "evaluate/cell_task.py": "cells that the evaluation wrote for its own workers",
    "evaluate/suite.py": "the package's own data",
    "evaluate/overtaking/scenes.py": "the package's own data",
    "race/heat_task.py": "recordings and reports of its own heat, as bytes",
    "tasks/sent_files.py": "files that a task names, as bytes; the package's own source",
    "train/rl/worker_crew.py": "arrays that a worker of the same training sent",
    "tasks/task_worker.py": "tasks and answers of workers of ours",
    "learning/identification/tyre_forces.py": "no bytes: numbers of a fit",
    "race/entry_confinement.py": "the answer of a process of ours that tries the limits",
    "system/drive_guard.py": "what the drive that it guards has written, our own process",
    "system/confinement.py": "words that the race gave its own process, and answers of the system",
    "record/recorder.py": "rows that the recorder has packed itself",
    "record/mcap_file.py": "messages that the recorder has packed itself",
    "record/parted_file.py": "the recorder's own chunks",
    "sims/beamng/coupling.py": "messages that the link has checked",
    "transport/capture/picture_scaling.py": "pixels that a grabber of ours has shaped",
    # The system's.
    "transport/capture/x11_window.py": "answers of the X server, through its library",
    "transport/capture/windows_window.py": "pixels of the screen, in the size that was requested",
    "transport/shm.py": "the answer of fcntl",
    "driving/session/drive_inputs.py:_hash_file": "bytes that are hashed, and nothing else",
    # Structures that are built, not read; and the id of a message whose length is known.
    "sims/assetto/wire/acpmf.py:__init__": "counts the values of zeros",
    "sims/beamng/doctor.py:_collect_answered": "the first number of a datagram of the known length",
}


def name_of_call(node):
    """Return the last name of what is called, and the last two with a point between."""
    if isinstance(node.func, ast.Name):
        return node.func.id, node.func.id
    if isinstance(node.func, ast.Attribute):
        owner = node.func.value
        above = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
        return node.func.attr, f"{above}.{node.func.attr}"
    return "", ""


def list_decoders():
    """Return {(module, line of the function): its name} of all functions that call a primitive themselves."""
    found = {}
    for module, nodes in module_nodes().items():
        name = module.as_posix()
        if name in ("user_files.py", *WITHOUT_TARGET):
            continue
        for call in nodes[ast.Call]:
            if not PRIMITIVES & set(name_of_call(call)):
                continue
            around = [node for node in nodes[ast.FunctionDef] if node.lineno <= call.lineno <= node.end_lineno]
            if around:  # the innermost begins last
                function = max(around, key=lambda node: node.lineno)
                if f"{name}:{function.name}" not in WITHOUT_TARGET:
                    found[name, function.lineno] = function.name
    return found


@pytest.fixture(scope="module")
def executed():
    """Return (module, line) of all functions of the package that the seeds of all targets enter."""
    entered = set()

    def note_call(frame, event, argument):
        entered.add(frame.f_code)  # and returns no tracer of the lines

    def run_seeds():
        for target in TARGETS.values():
            for data in target.read_seeds().values():
                target.run_case(data)

    def run_noted():
        sys.settrace(note_call)
        try:
            run_seeds()
            assert sys.gettrace() is note_call, "a target has ended the notes of calls"
        finally:
            sys.settrace(None)

    run_seeds()  # compiles kernels, which would take minutes with a note of each call
    # In a thread of its own: the interpreter notes calls thread by thread, and what tests before this one have left in
    # the main thread, a signal, an exception that is still to come or a note that never ended, would keep it from that.
    with ThreadPoolExecutor(1) as noting:
        noting.submit(run_noted).result()
    assert run_seeds.__code__ in entered, "no call was noted"
    inside = [code for code in entered if code.co_filename.startswith(str(PACKAGE))]
    return {(code.co_filename[len(str(PACKAGE)) + 1 :].replace("\\", "/"), code.co_name) for code in inside}


def test_every_decoder_of_the_tree_is_entered_by_a_target(executed):
    missing = [f"{module}:{line} {name}" for (module, line), name in list_decoders().items()
               if (module, name) not in executed]  # fmt: skip
    assert not missing, "no seed of any target in tests/fuzz enters:\n" + "\n".join(missing)


def test_the_exceptions_are_still_there():
    modules = {path.as_posix(): nodes[ast.FunctionDef] for path, nodes in module_nodes().items()}
    for place in WITHOUT_TARGET:
        module, _, function = place.partition(":")
        assert module in modules, place
        assert not function or function in {node.name for node in modules[module]}, place


def test_every_target_has_seeds_and_every_seed_a_target():
    assert sorted(path.name for path in SEEDS.iterdir()) == sorted(TARGETS)
    assert all(target.read_seeds() for target in TARGETS.values())


@pytest.mark.parametrize("target", EACH)
def test_seeds_and_cases_made_of_them_raise_nothing_undeclared(target):
    for data in target.read_seeds().values():
        target.run_case(data)

    @settings(max_examples=target.quick_cases)
    @given(build_cases(target))
    def run_cases(case):
        target.run_case(case)

    run_cases()


@pytest.mark.parametrize("target", EACH)
def test_no_text_that_repeats_itself_takes_long(target):
    seed = next(iter(target.read_seeds().values()))
    for number, piece in enumerate((*PIECES, *target.tokens)):
        repeated = (piece * (REPEATED // len(piece) + 1))[:REPEATED] if len(piece) < 50 else piece
        at = len(seed) * (3 + 2 * (number % 4)) // 10
        target.run_case(repeated if number % 5 == 0 else seed[:at] + repeated + seed[at:])


def test_cases_are_made_of_seeds_and_tokens():
    target = TARGETS["track_toml"]
    seeds, token = set(target.read_seeds().values()), target.tokens[0]
    case = find(build_cases(target), lambda case: token in case and case not in seeds and len(case) > 100)
    assert len(case) <= target.max_bytes


def test_the_command_fuzzes_the_targets_that_it_names(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)  # Atheris would end this process
    monkeypatch.setattr(sys, "argv", ["fuzz", "pad_report", "trend_steer", "--seconds", "0.2"])
    assert main() == 0
    said = capsys.readouterr().out
    assert said.startswith("2 targets, 0.1 s each, Hypothesis, seed ")
    assert said.endswith("\npad_report\ntrend_steer\n2 targets, no findings\n")


def test_a_finding_is_one():
    def fail(data):
        if data == b"declared":
            raise DataError("x")
        if data == b"long":
            raise DataError("x", expected="y" * 2000)
        raise KeyError(data)

    target = FuzzTarget("none", fail)
    assert not target.run_case(b"declared")
    for case in (b"", b"long"):
        with pytest.raises(FindingError):
            target.run_case(case)
