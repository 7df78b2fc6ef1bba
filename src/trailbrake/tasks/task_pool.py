"""`TaskPool`: one interface to run pure tasks, and its implementation by processes of this machine.

A task is a function of this package from bytes to bytes that reads nothing but its argument and writes nothing. So it
may run anywhere, and again where a process or a machine was lost, and its answer does not depend on how many run.

`open_pool` and `open_team`: the pool or the team that a user's `--on`, `--jobs` and `--workers` mean.
"""

import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from trailbrake.tasks.task_worker import TaskAnswer, TaskCall
from trailbrake.tasks.worker_process import WorkerProcess
from trailbrake.tasks.worker_team import LocalTeam, WorkerTeam

if TYPE_CHECKING:
    from trailbrake.tasks.ray_pool import RayPool

STOP_POLL_S = 0.2  # s between looks for a stop

Stopped = Callable[[], bool]


class LocalPool:
    """A pool of processes of this machine; runs tasks, several at a time.

    Args:
        jobs: tasks at a time; 0 = one per two cores.
        patience: s of wall time after which a task that does not end is given up.
        log_path: returns the file that gets what the tasks of a process print, by its number.

    Attributes:
        is_remote: whether tasks may run on other machines, which do not have the files of this one.
    """

    is_remote = False

    def __init__(self, jobs: int, patience: float, log_path: Callable[[int], Path]) -> None:
        self._workers = [WorkerProcess(log_path(job), patience) for job in range(count_jobs(jobs))]

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


TaskPool: TypeAlias = "LocalPool | RayPool"


def count_jobs(jobs: int) -> int:
    """Return how many tasks run at a time on this machine where the user says `jobs`."""
    return jobs or max((os.cpu_count() or 1) // 2, 1)


@contextmanager
def open_pool(
    on: str, jobs: int, patience: float, log_path: Callable[[int], Path], say: Callable[[str], None]
) -> Iterator[TaskPool]:
    """Open a pool of tasks and close it in the end.

    Args:
        on: "" = processes of this machine; else an address of Ray, as `RayPool` has it.
        jobs: tasks at a time on this machine, 0 = one per two cores; Ray counts its own.
        patience: s of wall time after which a task that does not end is given up.
        log_path: returns the file that gets what the tasks of a process of this machine print, by its number.
        say: takes lines for the user.

    Raises:
        UsageError, SimulatorError: as `RayPool`.
    """
    pool: TaskPool
    with ExitStack() as closed:
        if on:
            from trailbrake.tasks.ray_pool import RayPool

            closed.enter_context(redirect_stdout(sys.stderr))  # Ray prints what has died into what --json prints
            pool = RayPool(on, patience, say)
        else:
            pool = LocalPool(jobs, patience, log_path)
        closed.callback(pool.close)
        yield pool


@contextmanager
def open_team(
    on: str, count: int, patience: float, log_path: Callable[[int], Path], say: Callable[[str], None]
) -> Iterator[WorkerTeam]:
    """Open a team of workers and close it in the end.

    Args:
        on: "" = processes of this machine; else an address of Ray, as `RayPool` has it.
        count: workers.
        patience: s of wall time that a call may take.
        log_path: returns the file that gets what a worker of this machine prints, by its number.
        say: takes lines for the user.

    Raises:
        UsageError, SimulatorError: as `RayTeam`.
    """
    team: WorkerTeam
    with ExitStack() as closed:
        if on:
            from trailbrake.tasks.ray_pool import RayTeam

            closed.enter_context(redirect_stdout(sys.stderr))
            team = RayTeam(on, count, patience, say)
        else:
            team = LocalTeam(count, patience, log_path)
        closed.callback(team.close)
        yield team
