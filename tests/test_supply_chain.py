"""What CI installs is pinned by hash, names no host, and covers what the project declares."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOCK = (ROOT / ".ci" / "lock.txt").read_text(encoding="utf-8")
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(?: ; (.+?))? \\$")


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(*extras):
    """Return the names that the base and some extras need, without ours."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs, waiting = list(project["dependencies"]), list(extras)
    while waiting:
        for need in project["optional-dependencies"][waiting.pop()]:
            if need.startswith("trailbrake["):
                waiting += need.removeprefix("trailbrake[").rstrip("]").split(",")
            else:
                needs.append(need)
    return {canonical(re.match(r"[A-Za-z0-9._-]+", need)[0]) for need in needs}


def test_the_lock_covers_what_ci_installs():
    pinned = {canonical(match[1]) for line in LOCK.splitlines() if (match := PIN.match(line))}
    assert declared("dev", "release") | {"hatchling"} <= pinned


def test_each_line_of_the_lock_is_a_pin_or_its_hash():
    entries = re.split(r"\n(?=\S)", LOCK.strip())
    assert len(entries) > 60
    for entry in entries:
        first, *hashes = entry.splitlines()
        assert PIN.match(first), first
        assert hashes, first
        assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", line) for line in hashes), first


def load_audit():
    spec = importlib.util.spec_from_file_location("audit", ROOT / ".ci" / "audit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GOOD = {"name": "numpy", "version": "2.4.6", "vulns": []}
BAD = {"name": "pillow", "version": "1.0", "vulns": [{"id": "CVE-1", "fix_versions": ["1.1", "2.0"]}]}
UNKNOWN = {"name": "mcap", "skip_reason": "Dependency not found"}


@pytest.mark.parametrize(
    ("packages", "code", "words"),
    [([GOOD], 0, "none in 1 packages"), ([GOOD, UNKNOWN], 0, "none in 1 packages; not in the database: mcap"),
     ([UNKNOWN], 0, "skipped, the database knows none of the packages"),
     ([GOOD, BAD, UNKNOWN], 1, "pillow 1.0: CVE-1, fixed in 1.1, 2.0")],
)  # fmt: skip
def test_the_audit_tells_none_found_from_none_looked_up(packages, code, words):
    got, text = load_audit().judge_answer({"dependencies": packages})
    assert got == code
    assert words in text
