"""`BreakableCall`: a call of other people's code that another thread can break off by an exception inside of it."""

import ctypes
import signal
import sys
import threading
from contextlib import suppress

WAKING = getattr(signal, "SIGURG", None)  # interrupts a sleep, and asks for nothing; Windows has none
_ASYNC_AFTER = 8  # attempts by signal after which the interpreter's own way is used too: the code has its own handlers


class CallBroken(BaseException):
    """Raised inside a call that is broken off. Not an `Exception`, so that the called code does not catch it."""


class AnswerDiscarded(BaseException):
    """Raised in place of an answer that came too late. Not an `Exception`: it is no error of the driver."""


class StopInsisted(KeyboardInterrupt):
    """Raised by the second signal to stop, whose sender does not want to wait. No code of a driver raises it."""


OURS = (CallBroken, AnswerDiscarded, StopInsisted)  # what other people's code may raise without a fault of its own


class BreakableCall:
    """Breaks off a call in the thread that made this object.

    In the main thread a signal does it, which also ends a sleep or a wait for a lock, a socket or a process; see
    `signals.handle_stop_signals`. In another thread the exception comes with the next line of Python. A call into
    machine code that looks for no signals cannot be broken off.

    Attributes:
        is_active: whether the call is under way. Its thread sets it, and clears it as soon as the call has returned.
    """

    def __init__(self) -> None:
        self.is_active = False
        self._requests = 0
        self._thread = threading.get_ident()
        self._in_main_thread = threading.current_thread() is threading.main_thread()

    @property
    def thread(self) -> int:
        """Identity of the thread whose calls are broken off."""
        return self._thread

    def break_off(self) -> None:
        """Request CallBroken inside the call. Call it again while the call goes on: code can catch everything."""
        self._requests += 1
        if self._in_main_thread:
            if sys.platform == "win32":
                signal.raise_signal(signal.SIGINT)  # wakes the main thread's sleep, too
            else:
                signal.pthread_kill(self._thread, signal.SIGINT)
        if self._uses_exception():
            self._set_exception()

    def wake(self) -> None:
        """Let the handlers of signals run that came during the call, if it sleeps in the main thread.

        The system may give a signal to any thread; handlers of Python run in the main thread alone, when it wakes.
        """
        if self._in_main_thread and WAKING is not None and callable(signal.getsignal(WAKING)):
            signal.pthread_kill(self._thread, WAKING)

    def clear_requests(self) -> None:
        """Forget requests: the call is over. For the thread of the calls."""
        if self._uses_exception():
            # Takes the place of one that has not been raised yet. Setting none instead would leave CPython 3.11 looking
            # for one in every function, and in the first one for ever if a profiler or a debugger is on.
            with suppress(CallBroken):
                self._set_exception()
        self._requests = 0

    def _uses_exception(self) -> bool:
        return self._requests > (_ASYNC_AFTER if self._in_main_thread else 0)

    def _set_exception(self) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(CallBroken))

    def handle_signal(self) -> bool:
        """Raise CallBroken if a request is open and the call is under way; return whether a request is open.

        A handler of signals calls it first: True means that the signal was `break_off`'s.
        """
        if self._requests and self.is_active:
            raise CallBroken
        return self._requests > 0
