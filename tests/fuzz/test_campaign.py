"""The campaign: whole runs of its command, with a target that fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import campaign
from fuzz.fuzz_target import FuzzTarget
from fuzz.mutation import mutated_cases

TESTS = Path(__file__).parents[1]


def start_campaign(*words):
    # The folder of the tests alone is added to what this process can import.
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run([sys.executable, "-m", "fuzz.campaign", *words], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": paths}, cwd=TESTS)  # fmt: skip


@pytest.mark.slow
def test_a_campaign_counts_its_cases():
    ended = start_campaign("--target", "pad_report", "--cases", "500", "--seconds", "100", "--engine", "blind")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "500 cases, 0 findings" in ended.stdout


def fail_on_seven(data):
    if b"\x07" in data:
        raise KeyError("seven")


def test_a_finding_is_minimised_to_what_it_needs():
    target = FuzzTarget("seven", fail_on_seven)
    assert campaign.minimise(target, place_of(target, b"\x07"), bytes(range(100))) == b"\x07"


def place_of(target, data):
    with pytest.raises(AssertionError) as caught:
        target.run_case(data)
    return campaign.describe_place(caught.value)


def test_modules_with_kernels_are_not_instrumented():
    assert "trailbrake.tracks.frenet" in campaign.kernel_modules()
    assert "trailbrake.user_files" not in campaign.kernel_modules()


def test_mutations_repeat_for_a_seed_and_differ_between_seeds():
    def some(seed):
        cases = mutated_cases([b"hello", b"world" * 9], (b"TOKEN",), 60, seed)
        return [next(cases) for _ in range(50)]

    assert some("a") == some("a") != some("b")
    assert all(len(case) <= 60 for case in some("a"))
