"""The bridge's half in the prefix, as far as Linux can see it; `test_proton.py` runs it, under wine."""

import ast
import sys
from pathlib import Path

import pytest

from trailbrake.sims.assetto import bridge


def test_it_needs_nothing_but_the_standard_library():
    tree = ast.parse(Path(bridge.__file__).read_text(encoding="utf-8"), feature_version=(3, 8))
    nodes = list(ast.walk(tree))
    imported = {alias.name.split(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module.split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
    assert imported <= set(sys.stdlib_module_names)


def test_entries_of_the_board_do_not_meet():
    fields = (bridge.ORDER, bridge.DONE, bridge.STATE, bridge.HOLDERS, bridge.ERROR)
    places = [bridge.entry(index, field) for index in range(100) for field in fields]
    assert len(set(places)) == len(places)
    assert all(place % bridge.word.size == 0 for place in places)
    assert min(places) > max(bridge.BEATS, bridge.WATCHER_BEATS, bridge.STOP)


def test_the_list_of_pages():
    assert bridge.parse("4096 acpmf_physics\n20480 a name with spaces\n") == [
        ("acpmf_physics", 4096), ("a name with spaces", 20480)
    ]  # fmt: skip
    assert bridge.parse("") == []
    with pytest.raises(ValueError, match="not enough values"):
        bridge.parse("4096\n")
