"""The fault matrix. Some cells run by default, the others with `-m faults`; CI drives a slice of them a day."""

import os
import sys
from itertools import pairwise

import pytest

from faults.known_failures import KNOWN
from faults.matrix import RigPool, list_cells
from faults.outcomes import FAULTS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals, limits and pages as Linux has them")

# One for each wire, a few seconds together; each found something once.
QUICK = {
    ("assetto", "client", "NaN"),
    ("forza", "client", "garbage"),
    ("beamng", "host", "NaN"),
    ("trend", "client", "driver answers None"),
    ("udacity", "host", "truncated"),
    ("udacity_pid", "host", "NaN"),
    ("udacity_mpc", "host", "garbage"),
    ("donkeycar", "host", "second client"),
}
QUICK_PATIENCE = 4.0  # these run beside other tests, on a busy machine
SUSPEND_S = 30.0
SLICE = os.environ.get("TRAILBRAKE_FAULTS_SLICE", "0/1")  # which part of how many runs


def select_slice(cells):
    """Return the cells of this run's slice: neighbours share a rig, so a slice is a run of them."""
    part, count = map(int, SLICE.split("/"))
    part %= count
    return cells[part * len(cells) // count : (part + 1) * len(cells) // count]


def list_parameters():
    cells = [cell for cell in list_cells() if not cell.outcome.not_meaningful]
    chosen = select_slice(cells)
    for cell in cells:
        key = cell.wire, cell.end, cell.fault
        marks = [pytest.mark.slow] if key in QUICK else [pytest.mark.faults]
        if key in KNOWN:
            marks.append(pytest.mark.xfail(strict=True, reason=KNOWN[key]))
        if cell in chosen or key in QUICK:
            yield pytest.param(cell, id=cell.name, marks=marks)


_QUICK_CELLS = [cell for cell in list_cells() if (cell.wire, cell.end, cell.fault) in QUICK]
NEXT_QUICK = {(one.wire, one.end, one.fault): after for one, after in pairwise(_QUICK_CELLS)}


@pytest.fixture(scope="module")
def pool():
    pool = RigPool()
    yield pool
    pool.close_all()


@pytest.mark.parametrize("cell", list(list_parameters()))
def test_the_outcome_of_a_fault_is_the_declared_one(pool, cell):
    key = cell.wire, cell.end, cell.fault
    patience = QUICK_PATIENCE if key in QUICK else float(os.environ.get("TRAILBRAKE_FAULTS_PATIENCE", "1"))
    following = NEXT_QUICK.get(key)
    assert not (found := pool.run(cell, SUSPEND_S, patience, following).failures), "\n".join(found)


def test_every_cell_is_declared():
    cells = list_cells()
    assert len(cells) == 8 * 2 * len(FAULTS)
    for cell in cells:
        outcome = cell.outcome
        assert bool(outcome.not_meaningful) or outcome.car_s > 0.0, cell.name
        assert outcome.car in ("drives on", "stands", "waits", "rolls out", "keeps the last controls"), cell.name


def test_what_is_known_to_fail_is_a_cell():
    names = {(cell.wire, cell.end, cell.fault) for cell in list_cells() if not cell.outcome.not_meaningful}
    assert set(KNOWN) <= names
    assert names >= QUICK
    assert not QUICK & set(KNOWN)
