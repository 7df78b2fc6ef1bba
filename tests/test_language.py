"""The language of the package as numbers that must not grow: names, arguments, private words.

docs/decisions/0019-language.md says why. A limit is lowered when the count has fallen, never raised to pass.
"""

import ast
import re
from collections import Counter, defaultdict

from helpers.source_tree import module_texts, nodes_of

MOST_ONE_WORD_NAMES = 0.20  # of all functions and methods but dunders
MOST_WITH_OVER_8_ARGUMENTS = 0
MOST_WITH_OVER_5_ARGUMENTS = 31
MOST_CLASSES_WITH_TWO_MEANINGS = 0
MOST_PRIVATE_WORDS = {"asked": 10, "told": 2, "somebody": 2, "whoever": 2, "nobody": 6}
MOST_PROBES = 1  # hasattr and getattr where drives are made, in race, env and dashboard
DRIVING = ("driving", "learning", "tuning", "reference")
BY_COLUMN = ("learning/identification", "learning/car_report")  # columns and numbers of a car, by their names
MOST_ANY_IN_RUN = 4

# Names that every simulator, driver or tool declares for itself: one meaning, several classes.
ONE_PER_FOLDER = {
    "Driver", "Link", "Host", "LiveOptions", "ServeOptions", "RecordOptions",
    "RecordingSession",  # the protocol of a tool and its implementation
    "DoctorOptions", "SetupOptions", "SniffOptions", "ProbeOptions",
}  # fmt: skip


def functions():
    yield from nodes_of(ast.FunctionDef, ast.AsyncFunctionDef)


def positional(node):
    return [a for a in node.args.posonlyargs + node.args.args if a.arg not in ("self", "cls")]


def with_more_arguments_than(limit):
    return sorted(
        f"{path}:{node.lineno} {node.name}: {len(positional(node))}"
        for path, node in functions()
        if len(positional(node)) > limit
    )


def test_functions_are_named_by_verb_and_object():
    names = [node.name for _, node in functions() if not node.name.startswith("__")]
    short = Counter(name.strip("_") for name in names if "_" not in name.strip("_"))
    assert short.total() <= MOST_ONE_WORD_NAMES * len(names), short.most_common(40)


def test_functions_take_few_arguments():
    crowded = with_more_arguments_than(8)
    assert len(crowded) <= MOST_WITH_OVER_8_ARGUMENTS, "\n".join(crowded)
    long = with_more_arguments_than(5)
    assert len(long) <= MOST_WITH_OVER_5_ARGUMENTS, "\n".join(long)


def test_a_class_name_means_one_thing():
    homes = defaultdict(set)
    for path, node in nodes_of(ast.ClassDef):
        if node.name.strip("_") not in ONE_PER_FOLDER:
            homes[node.name.strip("_")].add(path.as_posix())
    twice = {name: sorted(paths) for name, paths in homes.items() if len(paths) > 1}
    assert len(twice) <= MOST_CLASSES_WITH_TWO_MEANINGS, twice


def test_words_are_those_of_the_field():
    counts = Counter()
    for text in module_texts().values():
        counts.update(re.findall(r"\b[a-z]+\b", text.lower()))
    over = {word: counts[word] for word, limit in MOST_PRIVATE_WORDS.items() if counts[word] > limit}
    assert not over, over


def test_abilities_are_protocols_and_not_probes():
    probes = [
        f"{path}:{node.lineno}"
        for path, node in nodes_of(ast.Call)
        if path.parts[0] in (*DRIVING, "race", "env", "dashboard") and not path.as_posix().startswith(BY_COLUMN)
        if isinstance(node.func, ast.Name) and node.func.id in ("hasattr", "getattr")
    ]
    assert len(probes) <= MOST_PROBES, probes


def test_the_drive_is_typed():
    names = [path for path, node in nodes_of(ast.Name) if path.parts[0] in DRIVING and node.id == "Any"]
    anys = Counter(path.as_posix() for path in names if not path.as_posix().startswith(BY_COLUMN))
    assert anys.total() < MOST_ANY_IN_RUN, anys


def test_simulators_are_looked_up_at_the_edge_alone():
    """Names become Simulator objects where a user or another process gives a name, and nowhere below."""
    edge = {
        "cli", "env/link.py", "evaluate/cell_task.py", "evaluate/evaluation.py", "evaluate/overtaking/scene_drive.py",
        "race/race_day.py", "race/heat.py",
        "driving/session/drive_session.py", "driving/simulator_check.py", "driving/stepping.py",
        "driving/supervised/keeper_process.py", "train/clone.py", "tuning/gain_search.py",
    }  # fmt: skip
    looked_up = [
        f"{path}:{node.lineno}"
        for path, node in nodes_of(ast.Attribute)
        if not {path.as_posix(), path.parts[0]} & edge
        if node.attr == "find" and ast.unparse(node) == "registry.find"
    ]
    assert not looked_up, looked_up
