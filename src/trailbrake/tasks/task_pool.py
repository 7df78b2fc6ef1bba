"""`TaskPool`: one interface to run pure tasks, and its implementation by processes of this machine.

A task is a function of this package from bytes to bytes that reads nothing but its argument and writes nothing. So it
may run anywhere, and again where a process or a machine was lost, and its answer does not depend on how many run.
"""

import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from trailbrake.tasks.task_worker import TaskAnswer, TaskCall
from trailbrake.tasks.worker_process import WorkerProcess

STOP_POLL_S = 0.2  # s between looks for a stop

Stopped = Callable[[], bool]


class TaskPool(Protocol):
    """Runs tasks, several at a time.

    Attributes:
        is_remote: whether tasks may run on other machines, which do not have the files of this one.
    """

    is_remote: bool

    def run_tasks(
        self, function: str, arguments: Sequence[bytes], stopped: Stopped = lambda: False
    ) -> Iterator[tuple[int, TaskAnswer]]:
        """Yield the index of each argument with its answer, as they come.

        Args:
            function: "MODULE:NAME" of a task.
            arguments: one per task.
            stopped: tested now and then.

        Raises:
            KeyboardInterrupt: `stopped`.
        """
        ...

    def close(self) -> None:
        """End what runs and release the pool."""
        ...


class LocalPool:
    """A pool of processes of this machine.

    Args:
        jobs: tasks at a time; 0 = one per two cores.
        patience: s of wall time after which a task that does not end is given up.
        log_path: returns the file that gets what the tasks of a process print, by its number.
    """

    is_remote = False

    def __init__(self, jobs: int, patience: float, log_path: Callable[[int], Path]) -> None:
        self._workers = [WorkerProcess(log_path(job), patience) for job in range(count_jobs(jobs))]

    def run_tasks(
        self, function: str, arguments: Sequence[bytes], stopped: Stopped = lambda: False
    ) -> Iterator[tuple[int, TaskAnswer]]:
        """Yield the index of each argument with its answer, as `TaskPool` says."""
        waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for index in range(len(arguments)):
            waiting.put(index)
        done: queue.SimpleQueue[tuple[int, TaskAnswer] | BaseException] = queue.SimpleQueue()
        ended = threading.Event()

        def work(worker: WorkerProcess) -> None:
            try:
                while not ended.is_set():
                    try:
                        index = waiting.get_nowait()
                    except queue.Empty:
                        return
                    answer = worker.run_task(TaskCall(function, arguments[index]))
                    if answer is not None:
                        done.put((index, answer))
            except BaseException as error:  # a fault of ours ends the run, not only one thread of it
                done.put(error)

        for worker in self._workers[: len(arguments)]:
            threading.Thread(target=work, args=(worker,), daemon=True).start()
        left = len(arguments)
        try:
            while left:
                if stopped():
                    raise KeyboardInterrupt
                try:
                    item = done.get(timeout=STOP_POLL_S)
                except queue.Empty:
                    continue
                if isinstance(item, BaseException):
                    raise item
                left -= 1
                yield item
        finally:
            ended.set()
            if left:
                self.close()

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.close()


def count_jobs(jobs: int) -> int:
    """Return how many tasks run at a time on this machine where the user says `jobs`."""
    return jobs or max((os.cpu_count() or 1) // 2, 1)
