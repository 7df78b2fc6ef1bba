"""The source of the package, read and parsed once for all tests that look at it."""

import ast
import gc
from collections import defaultdict
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "trailbrake"


@cache
def module_texts():
    """Return the text of each module, by its path within the package."""
    return {path.relative_to(PACKAGE): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def module_trees():
    """Return the syntax tree of each module, by its path within the package."""
    gc.disable()  # a million nodes that stay: looking for garbage among them takes as long as parsing
    try:
        return {path: ast.parse(text) for path, text in module_texts().items()}
    finally:
        gc.enable()


@cache
def module_nodes():
    """Return for each module, by its path, its nodes by their type."""
    found = {}
    for path, tree in module_trees().items():
        found[path] = defaultdict(list)
        for node in ast.walk(tree):
            found[path][type(node)].append(node)
    return found


def nodes_of(*kinds):
    """Yield path and node of all nodes of these types in the package."""
    for path, nodes in module_nodes().items():
        for kind in kinds:
            for node in nodes.get(kind, ()):
                yield path, node
