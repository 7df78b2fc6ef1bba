"""What one thread tells, another sees, without the interpreter in between."""

import threading

import numpy as np

from trailbrake.kernels import BACKEND, jit
from trailbrake.kernels.signal import APART, looks_in, take, tell, watch


def test_what_is_told_is_seen():
    numbers = np.zeros(2 * APART, np.int64)
    tell(numbers, APART, 7)
    assert numbers.tolist() == [0] * APART + [7] + [0] * (APART - 1)
    assert watch(numbers, APART, 6, 1_000_000_000, 1) == 7  # at once


def test_watching_ends_by_itself():
    numbers = np.full(1, 3, np.int64)
    assert watch(numbers, 0, 3, 100, 0) == 3
    assert watch(numbers, 0, 3, 0, 0) == 3


@jit
def _collect(numbers, found, more, end):
    count = 0
    at = take(numbers, APART, more)
    while at < end:
        found[count] = at
        count += 1
        at = take(numbers, APART, more)
    return count


def test_threads_that_take_turns_get_each_number_once():
    end = 300_000 if BACKEND == "numba" else 3_000
    numbers, founds, counts = np.zeros(2 * APART, np.int64), np.zeros((3, end), np.int64), [0, 0, 0]
    _collect(numbers, founds[0], 1, 0)  # compiles
    numbers[APART] = 6

    def work(thread):
        counts[thread] = _collect(numbers, founds[thread], 3, end)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    taken = np.concatenate([found[:count] for found, count in zip(founds, counts, strict=True)])
    assert sorted(taken.tolist()) == list(range(6, end, 3))
    assert not numbers[:APART].any()


def test_two_threads_answer_each_other():
    numbers, rounds, looks = np.zeros(2 * APART, np.int64), 50, 2_000_000 if BACKEND == "numba" else 1

    def answer():
        for k in range(1, rounds + 1):
            while watch(numbers, 0, k - 1, looks, 0) != k:
                pass
            tell(numbers, APART, k)

    other = threading.Thread(target=answer)
    other.start()
    for k in range(1, rounds + 1):
        tell(numbers, 0, k)
        while watch(numbers, APART, k - 1, looks, 0) != k:
            pass
    other.join(30.0)
    assert numbers[[0, APART]].tolist() == [rounds, rounds]


def test_looks_are_counted_by_their_time():
    few, many = looks_in(1e-4), looks_in(1e-1)
    assert few < many if BACKEND == "numba" else few == many == 0
