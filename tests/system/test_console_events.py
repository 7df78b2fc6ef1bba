import sys

import pytest

from trailbrake.system.console_events import (
    CLOSE,
    LOGOFF,
    LONGEST_S,
    SHUTDOWN,
    STOP_S,
    ConsoleEndHandler,
    handle_console_end,
)


@pytest.mark.parametrize("event", [CLOSE, LOGOFF, SHUTDOWN])
def test_an_event_that_ends_the_process_requests_a_quick_stop_once_and_then_holds_windows_up(event):
    seen = []
    handler = ConsoleEndHandler(seen.append, seen.append)
    assert handler(event)
    assert seen == [STOP_S, LONGEST_S], "the stop first, then the wait"
    assert handler(event)
    assert seen == [STOP_S, LONGEST_S, LONGEST_S]


@pytest.mark.parametrize("event", [0, 1])
def test_keys_are_signals_and_left_to_python(event):
    handler = ConsoleEndHandler(lambda seconds: pytest.fail("no end"), lambda seconds: pytest.fail("no wait"))
    assert not handler(event)


@pytest.mark.skipif(sys.platform == "win32", reason="a console of Windows has them")
def test_other_systems_have_no_such_events():
    with handle_console_end(lambda seconds: pytest.fail("no end")):
        pass
