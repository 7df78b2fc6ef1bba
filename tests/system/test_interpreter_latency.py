import gc
import sys
import weakref

from trailbrake.system.interpreter_latency import SWITCH_INTERVAL_S, low_latency_interpreter


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
    gc.collect()
    assert kept() is None
