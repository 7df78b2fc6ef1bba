import os
import signal
import subprocess
import sys
import threading

import pytest

from trailbrake.system.signals import CHILD_VARIABLE, handle_stop_signals


def test_the_first_signal_is_a_request_and_the_second_an_interrupt():
    asked = []
    before = signal.getsignal(signal.SIGINT)
    with handle_stop_signals(lambda: asked.append(1)):
        signal.raise_signal(signal.SIGINT)
        assert asked == [1]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert asked == [1]
    assert signal.getsignal(signal.SIGINT) is before


def test_sigterm_asks_too_and_handlers_come_back():
    asked = []
    before = signal.getsignal(signal.SIGTERM)
    with handle_stop_signals(lambda: asked.append(1)):
        signal.raise_signal(signal.SIGTERM)
    assert asked == [1]
    assert signal.getsignal(signal.SIGTERM) is before


def test_in_another_thread_nothing_happens():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work():
        with handle_stop_signals(lambda: None):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_a_child_is_asked_to_stop_by_the_end_of_its_input():
    code = (
        "import threading\n"
        "from trailbrake.system.signals import handle_stop_signals\n"
        "stop = threading.Event()\n"
        "with handle_stop_signals(stop.set):\n"
        "    print('ready', flush=True)\n"
        "    print('asked' if stop.wait(20) else 'never asked')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, CHILD_VARIABLE: "1"},
    )  # fmt: skip
    with process:
        assert process.stdout.readline() == "ready\n"
        said, _ = process.communicate()  # closes its input
    assert (said, process.returncode) == ("asked\n", 0)
