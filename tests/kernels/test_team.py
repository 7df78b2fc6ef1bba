"""Every piece is done once, by one thread at a time, and what a piece raises arrives."""

import threading

import pytest

from trailbrake.kernels.team import Team


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(("units", "least"), [(1, 1), (7, 1), (100, 16), (513, 1), (512, 600)])
def test_all_units_once_and_a_thread_does_one_piece_at_a_time(threads, units, least):
    done, within = [], [threading.Lock() for _ in range(threads)]

    def work(thread, lo, hi):
        assert within[thread].acquire(blocking=False)
        done.append((lo, hi))
        within[thread].release()

    team = Team(threads)
    for _ in range(20):
        done.clear()
        team.share(work, units, least)
        assert [unit for lo, hi in sorted(done) for unit in range(lo, hi)] == list(range(units))
        assert all(hi - lo >= least for lo, hi in sorted(done)[:-1])
    team.close()


def test_another_thread_takes_over_what_a_held_up_one_leaves():
    free, taken = threading.Event(), {}

    def work(thread, lo, hi):
        taken.setdefault(thread, []).append(lo)
        if lo == 0:  # whoever has the first piece waits until all others are done
            assert free.wait(30.0)
        elif sum(len(pieces) for pieces in taken.values()) == 16:
            free.set()

    Team(2).share(work, 16)
    assert sorted(len(pieces) for pieces in taken.values()) == [1, 15]


@pytest.mark.parametrize("which", [0, 15])
def test_what_a_piece_raises_is_raised(which):
    def work(thread, lo, hi):
        if lo == which:
            raise ArithmeticError("piece")

    with pytest.raises(ArithmeticError, match="piece"):
        Team(2).share(work, 16)
