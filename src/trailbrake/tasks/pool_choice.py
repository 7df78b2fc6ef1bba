"""`open_pool` and `open_team`: the pool or the team that a user's `--on`, `--jobs` and `--workers` mean."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path

from trailbrake.tasks.task_pool import LocalPool, TaskPool
from trailbrake.tasks.worker_team import LocalTeam, WorkerTeam


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
