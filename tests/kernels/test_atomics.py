"""What one thread tells, another sees, without the interpreter in between."""

import threading

import numpy as np

from trailbrake.kernels import BACKEND, jit
from trailbrake.kernels.atomics import COUNTER_STRIDE, count_spins, fetch_add, spin_until_changed, store_release


def test_what_is_told_is_seen():
    numbers = np.zeros(2 * COUNTER_STRIDE, np.int64)
    store_release(numbers, COUNTER_STRIDE, 7)
    assert numbers.tolist() == [0] * COUNTER_STRIDE + [7] + [0] * (COUNTER_STRIDE - 1)
    assert spin_until_changed(numbers, COUNTER_STRIDE, 6, 1_000_000_000, 1) == 7  # at once


def test_watching_ends_by_itself():
    numbers = np.full(1, 3, np.int64)
    assert spin_until_changed(numbers, 0, 3, 100, 0) == 3
    assert spin_until_changed(numbers, 0, 3, 0, 0) == 3


@jit
def _collect(numbers, found, more, end):
    count = 0
    at = fetch_add(numbers, COUNTER_STRIDE, more)
    while at < end:
        found[count] = at
        count += 1
        at = fetch_add(numbers, COUNTER_STRIDE, more)
    return count


def test_threads_that_take_turns_get_each_number_once():
    end = 300_000 if BACKEND == "numba" else 3_000
    numbers, founds, counts = np.zeros(2 * COUNTER_STRIDE, np.int64), np.zeros((3, end), np.int64), [0, 0, 0]
    _collect(numbers, founds[0], 1, 0)  # compiles
    numbers[COUNTER_STRIDE] = 6

    def work(thread):
        counts[thread] = _collect(numbers, founds[thread], 3, end)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    taken = np.concatenate([found[:count] for found, count in zip(founds, counts, strict=True)])
    assert sorted(taken.tolist()) == list(range(6, end, 3))
    assert not numbers[:COUNTER_STRIDE].any()


def test_two_threads_answer_each_other():
    numbers, rounds, looks = np.zeros(2 * COUNTER_STRIDE, np.int64), 50, 2_000_000 if BACKEND == "numba" else 1

    def answer():
        for k in range(1, rounds + 1):
            while spin_until_changed(numbers, 0, k - 1, looks, 0) != k:
                pass
            store_release(numbers, COUNTER_STRIDE, k)

    other = threading.Thread(target=answer)
    other.start()
    for k in range(1, rounds + 1):
        store_release(numbers, 0, k)
        while spin_until_changed(numbers, COUNTER_STRIDE, k - 1, looks, 0) != k:
            pass
    other.join(30.0)
    assert numbers[[0, COUNTER_STRIDE]].tolist() == [rounds, rounds]


def test_looks_are_counted_by_their_time():
    few, many = count_spins(1e-4), count_spins(1e-1)
    assert few < many if BACKEND == "numba" else few == many == 0
