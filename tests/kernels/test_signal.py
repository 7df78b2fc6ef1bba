"""What one thread tells, another sees, without the interpreter in between."""

import threading

import numpy as np

from trailbrake.kernels import BACKEND
from trailbrake.kernels.signal import APART, looks_in, tell, watch


def test_what_is_told_is_seen():
    numbers = np.zeros(2 * APART, np.int64)
    tell(numbers, APART, 7)
    assert numbers.tolist() == [0] * APART + [7] + [0] * (APART - 1)
    assert watch(numbers, APART, 6, 1_000_000_000, 1) == 7  # at once


def test_watching_ends_by_itself():
    numbers = np.full(1, 3, np.int64)
    assert watch(numbers, 0, 3, 100, 0) == 3
    assert watch(numbers, 0, 3, 0, 0) == 3


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
