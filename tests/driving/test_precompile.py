import subprocess

import pytest
from numba import typeof

from trailbrake import kernels
from trailbrake.cars.car_library import load_car
from trailbrake.drivers.line_track import Driver
from trailbrake.drivers.parts import adaptive_plan
from trailbrake.driving import precompile
from trailbrake.planning.course import Course
from trailbrake.planning.grip_use import measure_grip_use
from trailbrake.tracks.track_library import load_track


class FakeChild:
    def __init__(self, words, hangs=False):
        self.words, self.hangs, self.did = words, hangs, []

    def wait(self, patience=None):
        self.did.append("wait")
        if self.hangs and patience is not None:
            raise subprocess.TimeoutExpired("warm", patience)

    def kill(self):
        self.did.append("kill")


@pytest.fixture
def started(monkeypatch):
    """Return the children that were started, in a process that has yet to compile."""
    made = []
    monkeypatch.setattr(kernels, "CACHE_IS_COLD", True)
    monkeypatch.setattr(kernels, "CACHE", "folder")
    monkeypatch.setattr(precompile.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(precompile.subprocess, "Popen", lambda words, **more: made.append(FakeChild(words)) or made[-1])
    return made


def test_a_cold_start_compiles_the_world_in_a_child_and_waits_for_it(started):
    with precompile.precompile_in_child():
        assert [child.words[1:] for child in started] == [["-m", "trailbrake.driving.precompile"]]
        assert all(child.did == [] for child in started)
    assert all(child.did[0] == "wait" for child in started)


def test_a_second_drive_of_a_process_starts_no_child(started):
    for _ in range(2):
        with precompile.precompile_in_child():
            pass
    assert len(started) == 1


def test_without_a_folder_a_child_would_compile_for_itself_alone(started, monkeypatch):
    monkeypatch.setattr(kernels, "CACHE", None)
    with precompile.precompile_in_child():
        assert not started


def test_after_an_error_nobody_waits_for_it(started):
    with pytest.raises(ZeroDivisionError), precompile.precompile_in_child():
        raise ZeroDivisionError
    assert started[0].did[0] == "kill"


def test_a_child_that_hangs_is_ended(started):
    with precompile.precompile_in_child():
        started[0].hangs = True
    assert started[0].did[:2] == ["wait", "kill"]


@pytest.mark.parametrize(("cold", "cores"), [(False, 2), (True, 1)])
def test_without_need_or_without_a_second_core_there_is_no_child(started, monkeypatch, cold, cores):
    monkeypatch.setattr(kernels, "CACHE_IS_COLD", cold)
    monkeypatch.setattr(precompile.os, "cpu_count", lambda: cores)
    with precompile.precompile_in_child():
        pass
    assert started == []


def test_what_the_child_does_works():
    precompile.compile_world()


def test_the_child_compiles_for_the_types_that_the_driver_passes(monkeypatch):
    bound, bind = [], kernels.bind_entry

    def record(kernel, *arguments):
        if kernel is measure_grip_use:
            bound.append([typeof(argument) for argument in arguments])
        return bind(kernel, *arguments)

    monkeypatch.setattr(kernels, "bind_entry", record)
    monkeypatch.setattr(adaptive_plan, "bind_entry", record)
    precompile.compile_grip_use(load_car("gt3"))
    Driver().reset(Course(load_track("kartwerk"), load_car("gt3")))
    assert len(bound) == 2
    assert bound[0] == bound[1]
