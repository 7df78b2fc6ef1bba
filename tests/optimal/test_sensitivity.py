import numpy as np
import pytest

from trailbrake.optimal.line_session import STRETCH, rank_sensitivities, stage_lengths, sum_sensitivities


def test_stages_stand_for_the_whole_road():
    s = np.array([0.0, 2.0, 5.0, 9.0])
    closed = stage_lengths(s, True, 12.0)
    np.testing.assert_allclose(closed, [2.5, 2.5, 3.5, 3.5])
    np.testing.assert_allclose(stage_lengths(s, False, 9.0), [1.0, 2.5, 3.5, 2.0])


def test_the_stretch_that_is_worth_most_comes_first():
    s = np.arange(0.0, 400.0, 2.0)
    zero = 0.0 * s
    left = np.where((s >= 150.0) & (s < 200.0), 2e-4, 1e-5)
    columns = {"s_m": s, "worth_left_spm2": left, "worth_right_spm2": zero, "worth_grip_spm": zero + 3e-3}
    lengths = stage_lengths(s, True, 400.0)
    total = sum_sensitivities(columns, lengths)
    assert total["metre_left_s"] == pytest.approx(50.0 * 2e-4 + 350.0 * 1e-5)
    assert total["metre_right_s"] == 0.0
    assert total["percent_grip_s"] == pytest.approx(0.01 * 400.0 * 3e-3)
    first, *rest = rank_sensitivities(columns, lengths)
    assert (first["what"], first["start_m"], first["end_m"]) == ("left edge", 150.0, 150.0 + STRETCH)
    assert first["saved_s"] == pytest.approx(0.01)
    assert not any(row["what"] == "right edge" for row in rest)
