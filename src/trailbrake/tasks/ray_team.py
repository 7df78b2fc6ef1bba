"""`RayTeam`: a team of actors on the nodes of a Ray cluster (extra `scale`)."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from trailbrake.tasks.ray_pool import connect, find_last_line, import_ray, name_node, refuse_other_code
from trailbrake.tasks.source_digest import hash_source
from trailbrake.tasks.task_worker import TaskAnswer, TaskCall, answer_call
from trailbrake.tasks.worker_team import check_answers


class TeamActor:
    """A worker in a process of Ray."""

    def answer_call(self, source: str, data: bytes) -> bytes:
        """Return the encoded answer of an encoded call that is meant for the code `source`."""
        refusal = refuse_other_code(source)
        return msgspec.msgpack.encode(refusal or name_node(answer_call(msgspec.msgpack.decode(data, type=TaskCall))))


class RayTeam:
    """A team on a Ray cluster, spread over its nodes as evenly as it goes.

    Workers ask for no processors of their own, so that a team whose node is gone fits on what is left, slower.

    Args:
        address: as `RayPool` has it.
        count: workers.
        patience: s of wall time that a call may take.
        say: takes lines for the user.

    Raises:
        UsageError: Ray is missing, or the address is none.
        SimulatorError: no cluster there, or one of another version of Ray or Python.
    """

    is_remote = True

    def __init__(
        self, address: str, count: int, patience: float, say: Callable[[str], None] = lambda text: None
    ) -> None:
        self.count, self._patience = count, patience
        self._ray = import_ray()
        connect(self._ray, address)
        nodes = sum(bool(node["Alive"]) for node in self._ray.nodes())
        say(f"Ray {self._ray.__version__}: {count} workers on {nodes} node{'s' * (nodes != 1)}")
        self._actors: list[Any] = []

    def call_each(self, function: str, arguments: Sequence[bytes]) -> list[bytes]:
        """Return what a function answers in each worker, as `WorkerTeam` says."""
        if not self._actors:
            actor = self._ray.remote(num_cpus=0, max_restarts=0, scheduling_strategy="SPREAD")(TeamActor)
            self._actors = [actor.remote() for _ in range(self.count)]
        source = hash_source()
        calls = [msgspec.msgpack.encode(TaskCall(function, argument)) for argument in arguments]
        references = [worker.answer_call.remote(source, call) for worker, call in zip(self._actors, calls, strict=True)]
        self._ray.wait(references, num_returns=len(references), timeout=self._patience)
        return check_answers([self._collect_answer(reference) for reference in references])

    def _collect_answer(self, reference: Any) -> TaskAnswer | None:
        errors = self._ray.exceptions
        try:
            return msgspec.msgpack.decode(self._ray.get(reference, timeout=0.0), type=TaskAnswer)
        except errors.GetTimeoutError:
            return TaskAnswer(error=f"no answer within {self._patience:g} s", is_lost=True)
        except (errors.RayActorError, errors.ObjectLostError, errors.NodeDiedError):
            return None
        except errors.RayTaskError as error:  # raised before our own code: the node cannot import us, say
            return TaskAnswer(error=f"a node cannot run workers of trailbrake: {find_last_line(error)}")

    def restart(self) -> None:
        """End all workers; the next call begins with new ones."""
        for worker in self._actors:
            with suppress(Exception):  # it may be gone, and its node
                self._ray.kill(worker)
        self._actors = []

    def close(self) -> None:
        """End all workers and leave the cluster; one that was started for this program ends."""
        self.restart()
        with suppress(Exception):
            self._ray.shutdown()
