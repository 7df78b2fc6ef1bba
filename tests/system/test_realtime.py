import sys

import pytest

from trailbrake.system.realtime import high_resolution_timers


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
