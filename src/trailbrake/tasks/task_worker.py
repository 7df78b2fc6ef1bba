"""A process that runs tasks: `python -m trailbrake.tasks.task_worker`, framed calls in, framed answers out.

A process of its own for each task at a time: code of users that ends the interpreter or never answers costs one task.
"""

import importlib
import os
import queue
import struct
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from trailbrake.errors import TrailbrakeError, raised_at

FRAME_HEAD = struct.Struct("<Q")  # bytes of the frame that follows

TaskFunction = Callable[[bytes], bytes]


class TaskCall(msgspec.Struct, frozen=True):
    """A task: "MODULE:NAME" of a function of this package, and the bytes that it receives."""

    function: str
    argument: bytes


class TaskAnswer(msgspec.Struct, frozen=True):
    """What a task returned; or, where `error` is not empty, why it did not: `is_lost` if its process is gone."""

    value: bytes = b""
    error: str = ""
    is_lost: bool = False


def write_frame(file: BinaryIO, data: bytes) -> None:
    """Write a frame: its length and the bytes. OSError where the other end is gone."""
    file.write(FRAME_HEAD.pack(len(data)) + data)
    file.flush()


def read_frame(file: BinaryIO) -> bytes | None:
    """Return the bytes of the next frame; None at the end, also in the middle of a frame."""
    head = file.read(FRAME_HEAD.size)
    if len(head) < FRAME_HEAD.size:
        return None
    (size,) = FRAME_HEAD.unpack(head)
    data = file.read(size)
    return data if len(data) == size else None


def find_function(name: str) -> TaskFunction:
    """Return the function that "MODULE:NAME" names."""
    module, _, attribute = name.partition(":")
    function: TaskFunction = getattr(importlib.import_module(module), attribute)
    return function


def answer_call(call: TaskCall) -> TaskAnswer:
    """Return the answer of a task; whatever it raises is one."""
    try:
        return TaskAnswer(find_function(call.function)(call.argument))
    except TrailbrakeError as error:
        return TaskAnswer(error=str(error))
    except (Exception, SystemExit) as error:
        return TaskAnswer(error=f"{type(error).__name__}: {error} ({raised_at(error) or call.function})")


def serve_tasks() -> None:
    """Run the tasks of standard input until it ends; what they print goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    calls: queue.SimpleQueue[TaskCall] = queue.SimpleQueue()
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb")

    def read_calls() -> None:
        while (frame := read_frame(source)) is not None:
            calls.put(msgspec.msgpack.decode(frame, type=TaskCall))
        os._exit(0)  # who started this process is gone, perhaps killed: the task under way is of no use any more

    threading.Thread(target=read_calls, daemon=True).start()
    while True:
        write_frame(answers, msgspec.msgpack.encode(answer_call(calls.get())))


if __name__ == "__main__":
    serve_tasks()
