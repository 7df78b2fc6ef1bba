"""What a card's thread loads and stores, checked by a play with sets; `test_cuda` runs the kernels themselves."""

import pytest

from trailbrake.kernels import BACKEND
from trailbrake.kernels.lane_phases import find_row_usage
from trailbrake.world.contact import collide_with_walls
from trailbrake.world.gearbox import begin_shift
from trailbrake.world.ground import project_search
from trailbrake.world.integration import (
    advance_substep,
    apply_inputs,
    integrate_poses,
    prepare_substeps,
    project_cars,
    update_surfaces,
)
from trailbrake.world.row_layout import ControlRow, StateRow

pytest.importorskip("numba.cuda")
pytestmark = pytest.mark.skipif(BACKEND != "numba", reason="plain Python kernels")


def play(transfers, moving):
    """Return the rows whose newest value is not in memory after a step; assert that no part lacks a row."""
    held, newer = set(), set()  # in registers; there newer than in memory

    def load(rows):
        assert not newer & set(rows), "loads over a newer value"
        held.update(rows)

    def store(rows):
        assert held >= set(rows), "stores what was never loaded"
        newer.difference_update(rows)

    def run(*kernels):
        usage = find_row_usage(*kernels)
        kept = {row for row in usage.read | usage.written if row < ControlRow.COUNT}
        assert kept <= held
        newer.update(row for row in usage.written if row < StateRow.COUNT)

    load(transfers.load_begin if moving else transfers.load_resting)
    if moving:
        run(apply_inputs, begin_shift, prepare_substeps)
        store(transfers.store_begin)
        load(transfers.load_substeps)
        run(advance_substep)
        store(transfers.store_substeps)
        load(transfers.load_poses)
        run(integrate_poses)
        store(transfers.store_poses)
    load(transfers.load_end)
    run(project_cars, project_search, update_surfaces, collide_with_walls)
    store(transfers.store_end)
    return newer


@pytest.mark.parametrize("moving", [True, False])
def test_every_row_is_loaded_before_it_is_used_and_stored_after_it_was_changed(moving):
    from trailbrake.world.cuda_kernels import plan_transfers

    assert play(plan_transfers(), moving) == set()
