"""Every piece is done once, by one thread at a time, and what a piece raises arrives."""

import gc
import threading
import time

import pytest

from trailbrake.kernels.thread_team import SPIN_S, Team


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
        team.parallel_for(work, units, least)
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

    Team(2).parallel_for(work, 16)
    assert sorted(len(pieces) for pieces in taken.values()) == [1, 15]


@pytest.mark.parametrize("which", [0, 15])
def test_what_a_piece_raises_is_raised(which):
    def work(thread, lo, hi):
        if lo == which:
            raise ArithmeticError("piece")

    with pytest.raises(ArithmeticError, match="piece"):
        Team(2).parallel_for(work, 16)


def test_threads_that_slept_come_again():
    team, met = Team(2), []
    for _ in range(3):
        both = threading.Barrier(2, timeout=30.0)

        def work(thread, lo, hi, both=both):
            if lo in (0, 8):  # of 16 pieces, each of one thread
                met.append(thread)
                both.wait()

        seconds = time.monotonic()
        while time.monotonic() - seconds < 5.0 * SPIN_S:  # it is asleep by now, or soon
            pass
        team.parallel_for(work, 9, 8)
    assert sorted(met) == [0, 0, 0, 1, 1, 1]


def test_threads_end_with_their_team():
    before = set(threading.enumerate())
    team = Team(3)
    team.parallel_for(lambda thread, lo, hi: None, 100)
    own = set(threading.enumerate()) - before
    assert len(own) == 2
    del team
    gc.collect(1)
    for thread in own:
        thread.join(30.0)
        assert not thread.is_alive()


def test_a_team_goes_on_after_a_piece_that_raised():
    def broken(thread, lo, hi):
        raise ArithmeticError("piece")

    team, done = Team(3), []
    for _ in range(5):
        with pytest.raises(ArithmeticError, match="piece"):
            team.parallel_for(broken, 16)
        done.clear()
        team.parallel_for(lambda thread, lo, hi: done.append((lo, hi)), 16)
        assert sum(hi - lo for lo, hi in done) == 16
    team.close()
