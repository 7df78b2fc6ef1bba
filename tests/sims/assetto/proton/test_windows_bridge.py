"""The bridge's half in the prefix, as far as Linux can see it; `test_bridge_process.py` runs it, under wine."""

import ast
import sys
from pathlib import Path

import pytest

from trailbrake.sims.assetto.proton import windows_bridge


def test_it_needs_nothing_but_the_standard_library():
    tree = ast.parse(Path(windows_bridge.__file__).read_text(encoding="utf-8"), feature_version=(3, 8))
    nodes = list(ast.walk(tree))
    imported = {alias.name.split(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module.split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
    assert imported <= set(sys.stdlib_module_names)


def test_entries_of_the_board_do_not_meet():
    fields = (
        windows_bridge.ORDER,
        windows_bridge.DONE,
        windows_bridge.STATE,
        windows_bridge.HOLDERS,
        windows_bridge.ERROR,
    )
    places = [windows_bridge.entry_offset(index, field) for index in range(100) for field in fields]
    assert len(set(places)) == len(places)
    assert all(place % windows_bridge.WORD.size == 0 for place in places)
    assert min(places) > max(windows_bridge.HEARTBEAT, windows_bridge.WATCHER_HEARTBEAT, windows_bridge.STOP)


def test_the_list_of_pages():
    assert windows_bridge.parse_pages("4096 acpmf_physics\n20480 a name with spaces\n") == [
        ("acpmf_physics", 4096), ("a name with spaces", 20480)
    ]  # fmt: skip
    assert windows_bridge.parse_pages("") == []
    with pytest.raises(ValueError, match="not enough values"):
        windows_bridge.parse_pages("4096\n")
