"""The state that pages show."""

from trailbrake.dashboard.page_state import MAX_TEXTS, PageState
from trailbrake.system import steady_clock


def test_a_board_does_not_grow_for_ever():
    board = PageState(steady_clock.now)
    for k in range(2 * MAX_TEXTS):
        board.publish_text("said", str(k))
    assert len(board.texts) == MAX_TEXTS
