"""`RayPool`: tasks on the nodes of a Ray cluster (extra `scale`). Ray is imported here alone.

Ray finds nodes, places tasks, moves bytes and notices what has died. A task whose process or node was lost is handed
in again by this module and not by Ray's own retries, because those do not say what was lost.

`RayTeam`: a team of actors on the nodes of a Ray cluster (extra `scale`).
"""

import os
import re
import socket
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from trailbrake.errors import SimulatorError, UsageError, describe_os_error
from trailbrake.system import steady_clock
from trailbrake.tasks.sent_files import hash_source
from trailbrake.tasks.task_pool import STOP_POLL_S, Stopped
from trailbrake.tasks.task_worker import TaskAnswer, TaskCall, answer_call
from trailbrake.tasks.worker_process import WorkerProcess
from trailbrake.tasks.worker_team import check_answers

HERE = "ray"  # the address of the cluster of this machine
REACH_LIMIT_S = 5.0  # s that the port of a cluster may take to accept a connection, and again to speak gRPC
CONNECT_LIMIT_S = 120.0  # s that a cluster may take to accept us
MOST_LOSSES = 3  # times that a task is handed in again after its process or node was lost
TASKS_PER_PROCESSOR = 2  # handed in at a time, so that no processor waits for us
_COUNT_S = 5.0  # s between counts of the cluster's processors: nodes come and go
_ADDRESS = re.compile(r"(?P<client>ray://)?(?P<host>\[[0-9a-fA-F:]+\]|[^\s:/\[\]]+):(?P<port>\d{1,5})")
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "RAY_DEDUP_LOGS": "0"}

_worker: WorkerProcess | None = None  # of a process of Ray: reused by the tasks that it runs one after the other


class NodeCall(msgspec.Struct, frozen=True):
    """A task for a node: the call, the code that it is meant for, and the wall time that it may take, s."""

    call: TaskCall
    source: str
    patience: float


def answer_on_node(data: bytes) -> bytes:
    """Run a task on this node and return its answer; both are encoded."""
    global _worker
    node = msgspec.msgpack.decode(data, type=NodeCall)
    if refusal := refuse_other_code(node.source):
        return msgspec.msgpack.encode(refusal)
    if _worker is None:
        _worker = WorkerProcess(Path(tempfile.gettempdir()) / f"trailbrake-task-{os.getpid()}.log", node.patience)
    answer = _worker.run_task(node.call) or TaskAnswer(error="the node is ending")
    return msgspec.msgpack.encode(name_node(answer))


def refuse_other_code(source: str) -> TaskAnswer | None:
    """Return the answer of this node to a call that is meant for other code than it has; None where it has that."""
    if source == hash_source():
        return None
    text = f"node {socket.gethostname()} has other code of trailbrake; install the same version everywhere"
    return TaskAnswer(error=text)


def name_node(answer: TaskAnswer) -> TaskAnswer:
    """Return an answer whose error, if there is one, names this node."""
    if not answer.error:
        return answer
    return msgspec.structs.replace(answer, error=f"{answer.error} (node {socket.gethostname()})")


class RayPool:
    """A pool of the processors of a Ray cluster.

    Args:
        address: "ray": the cluster that RAY_ADDRESS names, else that of this machine, else a new one for this program;
            ray://HOST:PORT: a cluster by its client server; HOST:PORT: one that this machine is a node of.
        patience: s of wall time after which a task that does not end is given up.
        say: takes lines for the user.

    Raises:
        UsageError: Ray is missing, or the address is none.
        SimulatorError: no cluster there, or one of another version of Ray or Python.
    """

    is_remote = True

    def __init__(self, address: str, patience: float, say: Callable[[str], None] = lambda text: None) -> None:
        self._patience, self._say = patience, say
        self._ray = import_ray()
        connect(self._ray, address)
        self._remote = self._ray.remote(num_cpus=1, max_retries=0)(answer_on_node)
        self._processors, self._counted_at = self._count_processors(), steady_clock.now()
        nodes = sum(bool(node["Alive"]) for node in self._ray.nodes())
        say(f"Ray {self._ray.__version__}: {nodes} node{'s' * (nodes != 1)}, {self._processors} processors")

    def run_tasks(
        self, function: str, arguments: Sequence[bytes], stopped: Stopped = lambda: False
    ) -> Iterator[tuple[int, TaskAnswer]]:
        """Yield the index of each argument with its answer, as `LocalPool` does.

        Raises:
            SimulatorError: the cluster is gone.
            KeyboardInterrupt: `stopped`.
        """
        waiting = deque(range(len(arguments)))
        under_way: dict[Any, tuple[int, float]] = {}
        losses: dict[int, int] = {}
        source = hash_source()
        try:
            while waiting or under_way:
                if stopped():
                    raise KeyboardInterrupt
                while waiting and len(under_way) < TASKS_PER_PROCESSOR * self._update_processors():
                    index = waiting.popleft()
                    node_call = NodeCall(TaskCall(function, arguments[index]), source, self._patience)
                    under_way[self._remote.remote(msgspec.msgpack.encode(node_call))] = index, steady_clock.now()
                done, _ = self._ray.wait(list(under_way), timeout=STOP_POLL_S)
                for reference in done:
                    index, handed_in_at = under_way.pop(reference)
                    answer = self._collect_answer(reference)
                    if answer is not None:
                        yield index, answer
                        continue
                    losses[index] = losses.get(index, 0) + 1
                    lost_s = steady_clock.now() - handed_in_at
                    if losses[index] > MOST_LOSSES:
                        yield index, TaskAnswer(error=f"its process or node was lost {losses[index]} times")
                        continue
                    self._say(f"task {index + 1} was lost with its process or node, {lost_s:.0f} s after it was handed"
                              " in; it runs again")  # fmt: skip
                    waiting.appendleft(index)
        except (ConnectionError, self._ray.exceptions.RaySystemError) as error:
            raise SimulatorError("the cluster is gone", where="--on", got=_first_line(error),
                                 hint="the same command goes on from what is finished") from error  # fmt: skip
        finally:
            for reference in under_way:
                _try_quietly(partial(self._ray.cancel, reference, force=True))

    def close(self) -> None:
        """Leave the cluster; one that was started for this program ends."""
        _try_quietly(self._ray.shutdown)

    def _collect_answer(self, reference: Any) -> TaskAnswer | None:
        """Return the answer of a task that has ended; None where it was lost with its process or node."""
        errors = self._ray.exceptions
        try:
            return msgspec.msgpack.decode(self._ray.get(reference), type=TaskAnswer)
        except errors.RayTaskError as error:  # raised on the node before our own code: it cannot import us, say
            return TaskAnswer(error=f"a node cannot run tasks of trailbrake: {find_last_line(error)}")
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError, errors.OutOfMemoryError,
                errors.LocalRayletDiedError):  # fmt: skip
            return None

    def _update_processors(self) -> int:
        if steady_clock.now() - self._counted_at > _COUNT_S:
            self._processors, self._counted_at = self._count_processors(), steady_clock.now()
        return self._processors

    def _count_processors(self) -> int:
        return max(int(self._ray.cluster_resources().get("CPU", 0)), 1)


def import_ray() -> Any:
    """Return the module `ray`; UsageError where it is missing."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    # Ray starts clusters with a token wherever it finds one, but joins them with it only where this variable says so.
    if has_token():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    try:
        import ray
    except ImportError as error:
        raise UsageError("Ray is missing", where="--on", hint='pip install "trailbrake[scale]"') from error
    return ray


def has_token() -> bool:
    """Return whether this machine has a token of a cluster, where Ray looks for one."""
    places = (os.environ.get("RAY_AUTH_TOKEN_PATH"), Path.home() / ".ray" / "auth_token")
    return bool(os.environ.get("RAY_AUTH_TOKEN")) or any(place and Path(place).is_file() for place in places)


def connect(ray: Any, address: str) -> None:
    """Join the cluster at an address, or start one (`RayPool`).

    Raises:
        UsageError: the address is none.
        SimulatorError: no cluster there, or one of another version of Ray or Python.
    """
    if address != HERE:
        check_address(address)
    options = {"log_to_driver": False, "logging_level": "ERROR", "ignore_reinit_error": True}
    if address == HERE:
        options["include_dashboard"] = False
    else:
        options["address"] = address
    try:
        if address == HERE:
            ray.init(**options)
        else:
            _call_within(CONNECT_LIMIT_S, lambda: ray.init(**options))
    except Exception as error:  # Ray has no base for these: RuntimeError, ConnectionError, ValueError, of gRPC
        text = " ".join(str(error).split())
        if "ersion" in text and ("mismatch" in text or "match" in text):
            got = text
            raise SimulatorError("the cluster has another version of Ray or Python", where=f"--on {address}",
                                 expected=f"Ray {ray.__version__}, Python {sys.version.split()[0]}", got=got,
                                 hint="install the cluster's versions here") from error  # fmt: skip
        token = "" if has_token() else "; a cluster may want its token: ~/.ray/auth_token or RAY_AUTH_TOKEN"
        raise SimulatorError("cannot join the cluster", where=f"--on {address}", got=_first_line(error),
                             hint=f"see ray status{token}") from error  # fmt: skip


def check_address(address: str) -> None:
    """Check that an address is one, and that a gRPC server answers there: Ray itself would try for a minute.

    Raises:
        UsageError: it is none.
        SimulatorError: nothing answers there.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None or not 0 < int(match["port"]) < 65536:
        raise UsageError("no address of a cluster", where="--on", got=address,
                         expected="ray, ray://HOST:PORT or HOST:PORT")  # fmt: skip
    try:
        socket.create_connection((match["host"].strip("[]"), int(match["port"])), REACH_LIMIT_S).close()
        _greet_server(f"{match['host']}:{match['port']}")
    except OSError as error:
        usual = "a cluster's client server has port 10001" if match["client"] else "a cluster's own port is 6379"
        raise SimulatorError("no cluster answers", where=f"--on {address}", got=describe_os_error(error),
                             hint=f"{usual}; start one with: ray start --head") from None  # fmt: skip


def _greet_server(target: str) -> None:
    # Both ports of a cluster speak gRPC.
    try:
        import grpc
    except ImportError as error:
        raise UsageError("gRPC is missing", where="--on", hint='pip install "trailbrake[scale]"') from error
    channel = grpc.insecure_channel(target)
    try:
        grpc.channel_ready_future(channel).result(REACH_LIMIT_S)
    except grpc.FutureTimeoutError:
        raise TimeoutError("the port is open, and no server of Ray answers") from None
    finally:
        channel.close()


def _call_within(limit_s: float, call: Callable[[], object]) -> None:
    # What waits at a port that is no cluster's cannot be broken off; its thread ends with the program.
    raised: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit_s)
    if thread.is_alive():
        raise TimeoutError(f"no answer for {limit_s:g} s")
    if raised:
        raise raised[0]


def _try_quietly(call: Callable[[], object]) -> None:
    try:
        call()
    except Exception:
        return  # the cluster may be gone already


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def find_last_line(error: BaseException) -> str:
    """Return the last line of an error's text: what Ray raises has a traceback in it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


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
        """Return what a function answers in each worker, as `LocalTeam` does."""
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
