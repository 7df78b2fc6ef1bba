import gc
import sys
import weakref

import pytest

from trailbrake.system.realtime import SWITCH_INTERVAL_S, high_resolution_timers, low_latency_interpreter


def test_it_lets_everything_through():
    with pytest.raises(KeyError), high_resolution_timers():
        raise KeyError


@pytest.mark.skipif(sys.platform != "win32", reason="nothing is asked of other systems")
def test_the_priority_is_raised_and_given_back():
    import ctypes

    kernel = ctypes.WinDLL("kernel32")
    kernel.GetCurrentProcess.restype = ctypes.c_void_p

    def priority():
        return kernel.GetPriorityClass(ctypes.c_void_p(kernel.GetCurrentProcess()))

    before = priority()
    with high_resolution_timers():
        assert priority() == 0x8000
    assert priority() == before


class Loop:
    """Refers to itself: only the collector can free it."""

    def __init__(self):
        self.me = self


def test_it_holds_inside_and_is_as_before_behind():
    before, frozen = sys.getswitchinterval(), gc.get_freeze_count()
    try:
        with low_latency_interpreter():
            assert abs(sys.getswitchinterval() - SWITCH_INTERVAL_S) < 1e-9
            assert gc.get_freeze_count() > frozen
            raise KeyError
    except KeyError:
        pass
    assert sys.getswitchinterval() == before
    assert gc.get_freeze_count() == 0


def test_what_the_loop_leaves_behind_is_still_collected():
    old = Loop()
    with low_latency_interpreter():
        new = Loop()
        gone, kept = weakref.ref(new), weakref.ref(old)
        del new, old
        gc.collect()
        assert gone() is None
        assert kept() is not None, "what was there before is not looked at"
