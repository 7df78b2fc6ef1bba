"""`WorkerTeam`: processes that keep what they have loaded and are all called at the same time, here or on a cluster.

Unlike the tasks of a pool, calls of a team may depend on earlier ones and wait for each other. So a team that has lost
one worker starts all of them again, and its user begins again with the last state that it knows.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from trailbrake.errors import SimulatorError
from trailbrake.tasks.task_worker import TaskAnswer, TaskCall
from trailbrake.tasks.worker_process import WorkerProcess

if TYPE_CHECKING:
    from trailbrake.tasks.ray_pool import RayTeam


class WorkerLostError(Exception):
    """A worker has died, or its call took too long; the text says which."""


def check_answers(answers: Sequence[TaskAnswer | None]) -> list[bytes]:
    """Return the values of answers; None stands for a worker that is gone.

    Raises:
        WorkerLostError: a worker is gone.
        SimulatorError: an answer is an error.
    """
    for number, answer in enumerate(answers, 1):
        if answer is None or answer.is_lost:
            raise WorkerLostError(f"worker {number} of {len(answers)} was lost{(answer and f': {answer.error}') or ''}")
    values = []
    for number, answer in enumerate(answers, 1):
        assert answer is not None
        if answer.error:
            raise SimulatorError(answer.error, where=f"worker {number} of {len(answers)}")
        values.append(answer.value)
    return values


class LocalTeam:
    """A team of processes of this machine.

    Args:
        count: workers.
        patience: s of wall time that a call may take.
        log_path: returns the file that gets what a worker prints, by its number.

    Attributes:
        count: workers.
        is_remote: whether they may run on other machines, which do not have the files of this one.
    """

    is_remote = False

    def __init__(self, count: int, patience: float, log_path: Callable[[int], Path]) -> None:
        self.count = count
        self._start = partial(_start_workers, count, patience, log_path)
        self._workers = self._start()

    def call_each(self, function: str, arguments: Sequence[bytes]) -> list[bytes]:
        """Return what a function answers in each worker, called at the same time.

        Args:
            function: "MODULE:NAME", from bytes to bytes.
            arguments: one per worker.

        Raises:
            WorkerLostError: a worker died or took too long.
            SimulatorError: a call raised something.
        """
        calls = [TaskCall(function, argument) for argument in arguments]
        with ThreadPoolExecutor(self.count, thread_name_prefix="team") as threads:
            try:
                answers = list(threads.map(WorkerProcess.run_task, self._workers, calls))
            except BaseException:  # an interrupt: the threads wait for processes that wait for each other
                self.close()
                raise
        return check_answers(answers)

    def restart(self) -> None:
        """End all workers; new ones start with the next call."""
        self.close()
        self._workers = self._start()

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.close()


def _start_workers(count: int, patience: float, log_path: Callable[[int], Path]) -> list[WorkerProcess]:
    return [WorkerProcess(log_path(number), patience) for number in range(count)]


WorkerTeam: TypeAlias = "LocalTeam | RayTeam"
