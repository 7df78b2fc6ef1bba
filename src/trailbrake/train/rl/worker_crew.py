"""`WorkerCrew`: iterations of a training by several workers, each with its share of the cars.

All workers hold the same learner: each learns from its own cars, and gradients are averaged at each step, so that they
stay the same to the bit. What a training finds depends on the number of workers, and not on where they run. The present
state is kept here after each iteration: where a worker is lost, new ones begin that iteration again.

A worker of a training in several processes: its own cars, and a copy of the learner that stays equal to the others.

The functions are called by a `WorkerTeam`, from bytes to bytes, all workers at the same time; what they leave behind is
kept in the process.

`LearnerGroup`: learners in several processes that average their arrays, by PyTorch's Gloo over TCP.

Gloo encrypts nothing and asks for no password: all sockets listen on the address that is given alone, 127.0.0.1 on one
machine; on a cluster keep them in a private network, as Ray's own.
"""

import hashlib
import socket
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import SimulatorError
from trailbrake.tasks.sent_files import collect_files, place_files, rename_files
from trailbrake.tasks.worker_team import WorkerLostError, WorkerTeam
from trailbrake.train.pytorch import import_torch, take_device
from trailbrake.train.rl.iteration import IterationOutcome, build_sampler, join_outcomes, run_iteration
from trailbrake.train.rl.networks import Weights
from trailbrake.train.rl.options import RlOptions, race_options
from trailbrake.train.rl.ppo import PpoLearner
from trailbrake.transport.rendezvous import OUTSIDE, find_own_address

MOST_LOSSES = 3  # in one iteration
_HERE = "trailbrake.train.rl.worker_crew"
FIND_ADDRESS, OPEN_STORE, JOIN_TEAM, ITERATE = (
    f"{_HERE}:{name}" for name in ("find_address", "open_store", "join_team", "iterate")
)
LOOPBACK = "127.0.0.1"
TIMEOUT_S = 300.0  # s after which a learner that does not answer is given up; the first time it may compile


class GroupBrokenError(Exception):
    """Another learner is gone, or the network between them."""


class LearnerGroup:
    """A learner's place in its group. Call `open_store` in the first one and `join` in all, at the same time.

    Args:
        rank: of this learner, 0 for the first.
        count: of learners.
    """

    def __init__(self, rank: int, count: int) -> None:
        self.rank, self.count = rank, count
        self._torch = import_torch()
        self._timeout = timedelta(seconds=TIMEOUT_S)
        self._store: Any = None
        self._group: Any = None

    def open_store(self, host: str) -> int:
        """Open the place where the learners find each other, on an address of this machine; return its port.

        Raises:
            GroupBrokenError: it cannot be opened.
        """
        try:
            listening = socket.create_server((host, 0))  # by itself the store would listen on all addresses
            port = int(listening.getsockname()[1])
            self._store = self._torch.distributed.TCPStore(
                host, port, None, True, self._timeout, wait_for_workers=False, master_listen_fd=listening.detach()
            )
        except (OSError, RuntimeError) as error:
            raise GroupBrokenError(_first_line(error)) from error
        return port

    def join(self, store: tuple[str, int], host: str) -> None:
        """Connect to all others.

        Args:
            store: address and port that `open_store` has in the first learner.
            host: address of this machine that the others reach.

        Raises:
            GroupBrokenError: they did not all come.
        """
        distributed = self._torch.distributed
        gloo = distributed.ProcessGroupGloo
        try:
            if self._store is None:
                self._store = distributed.TCPStore(*store, None, False, self._timeout, wait_for_workers=False)
            options = gloo._Options()  # the only way to the address: without it Gloo takes that of the host's name
            options._timeout = self._timeout
            options._devices = [gloo.create_device(hostname=host)]
            self._group = gloo(self._store, self.rank, self.count, options)
        except RuntimeError as error:
            raise GroupBrokenError(_first_line(error)) from error

    def average(self, values: NDArray[np.float64]) -> None:
        """Replace an array in place by its mean over all learners, the same to the bit in each.

        Raises:
            GroupBrokenError: another learner is gone.
        """
        try:
            self._group.allreduce([self._torch.from_numpy(values)]).wait()
        except RuntimeError as error:
            raise GroupBrokenError(_first_line(error)) from error
        values /= self.count


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]


class PackedArray(msgspec.Struct, frozen=True):
    """An array as bytes."""

    kind: str
    shape: tuple[int, ...]
    data: bytes


class WorkerOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker needs to begin.

    Attributes:
        rank, count: its place among the workers.
        options: of the training, by name.
        files: contents of the files that the options name, by the text that names them.
        store: address and port where the workers find each other.
        host: address of this worker's machine.
        state: of the learner.
    """

    rank: int
    count: int
    options: dict[str, Any]
    files: dict[str, bytes]
    store: tuple[str, int]
    host: str
    state: dict[str, PackedArray]


class IterateAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What came of an iteration.

    Attributes:
        outcome: None where there is none.
        state: of the learner, of the first worker alone.
        digest: of the state.
        diverged: why learning ended, "" if it did not.
        broken: why the workers no longer reach each other, "" if they do.
    """

    outcome: IterationOutcome | None = None
    state: dict[str, PackedArray] = {}
    digest: str = ""
    diverged: str = ""
    broken: str = ""


def pack_arrays(arrays: Weights) -> dict[str, PackedArray]:
    """Return arrays as bytes, for a message."""
    return {name: PackedArray(array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}


def unpack_arrays(packed: Mapping[str, PackedArray]) -> Weights:
    """Return the arrays of a message."""
    return {name: np.frombuffer(bytearray(each.data), each.kind).reshape(each.shape) for name, each in packed.items()}


def digest_arrays(arrays: Weights) -> str:
    """Return a text that changes with any bit of any array."""
    hashed = hashlib.sha256()
    for name in sorted(arrays):
        hashed.update(name.encode())
        hashed.update(np.ascontiguousarray(arrays[name]).tobytes())
    return hashed.hexdigest()


def pack_options(options: RlOptions, is_remote: bool) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return options as plain values, and the files that they name where workers may not have them."""
    words = (*options.learned_cars, *options.tracks)
    return msgspec.to_builtins(options, enc_hook=str), collect_files(words) if is_remote else {}


def unpack_options(order: WorkerOrder, folder: Path) -> RlOptions:
    """Return the options of an order, its files written into a folder."""
    names = place_files(order.files, folder)
    options = msgspec.convert(order.options, RlOptions, dec_hook=lambda kind, value: kind(value))
    car, track = (
        ",".join(rename_files(name, names) for name in each) for each in (options.learned_cars, options.tracks)
    )
    return replace(options, car=car, track=track)


class TrainingWorker:
    """A worker that has joined its team.

    Args:
        order: what it needs.
        group: of the workers.

    Raises:
        GroupBrokenError: the workers did not all come.
        UsageError: PyTorch is missing, or options out of range.
    """

    def __init__(self, order: WorkerOrder, group: LearnerGroup) -> None:
        group.join(order.store, order.host)
        self._rank = order.rank
        with tempfile.TemporaryDirectory(prefix="trailbrake-train-") as folder:  # roads and cars are read here
            options = unpack_options(order, Path(folder))
            import_torch().set_num_threads(options.threads)
            width, device = race_options(options).build_task().width, take_device(options.device, order.rank)
            self._learner = PpoLearner(
                width, options.hidden, options.seed, group.average, options.divergence, device=device
            )
            self._learner.import_state(unpack_arrays(order.state))
            share = replace(options, cars=options.cars // order.count)
            self._sampler = build_sampler(share, self._learner.actor, device)
        self._seed = options.seed

    def iterate(self, iteration: int) -> IterateAnswer:
        """Run an iteration together with the others."""
        try:
            seed = [self._seed, iteration, self._rank]
            outcome = run_iteration(self._learner, self._sampler, seed, iteration)
        except FloatingPointError as error:
            return IterateAnswer(diverged=str(error))
        except GroupBrokenError as error:
            return IterateAnswer(broken=str(error))
        state = self._learner.export_state()
        packed = {} if self._rank else pack_arrays(state)
        return IterateAnswer(outcome=outcome, state=packed, digest=digest_arrays(state))


_group: LearnerGroup | None = None
_worker: TrainingWorker | None = None


def find_address(argument: bytes) -> bytes:
    """Return this machine's address on the way to an address and port, encoded; LOOPBACK where there is none."""
    host, port = msgspec.msgpack.decode(argument, type=tuple[str, int])
    return (find_own_address((host, port)) if host else LOOPBACK).encode()


def open_store(argument: bytes) -> bytes:
    """Take the place in the group, (rank, count, host) encoded; the first opens the store and returns its port."""
    global _group
    rank, count, host = msgspec.msgpack.decode(argument, type=tuple[int, int, str])
    _group = LearnerGroup(rank, count)
    return msgspec.msgpack.encode(_group.open_store(host) if rank == 0 else 0)


def join_team(argument: bytes) -> bytes:
    """Begin with an encoded `WorkerOrder`; return why the group is broken, nothing if it stands."""
    global _worker
    assert _group is not None
    try:
        _worker = TrainingWorker(msgspec.msgpack.decode(argument, type=WorkerOrder), _group)
    except GroupBrokenError as error:
        return str(error).encode()
    return b""


def iterate(argument: bytes) -> bytes:
    """Run the iteration whose number is encoded; return an encoded `IterateAnswer`."""
    assert _worker is not None
    return msgspec.msgpack.encode(_worker.iterate(msgspec.msgpack.decode(argument, type=int)))


class WorkerCrew:
    """Workers that run the iterations of a training together.

    Args:
        options: of the training.
        team: of processes.
        say: takes lines for the user.
    """

    def __init__(self, options: RlOptions, team: WorkerTeam, say: Callable[[str], None]) -> None:
        self._team, self._say = team, say
        self._options, self._files = pack_options(options, team.is_remote)
        self._has_joined = False

    def run_iteration(self, learner: PpoLearner, iteration: int) -> IterationOutcome:
        """Run an iteration from the learner's state, which is the new one then.

        Raises:
            FloatingPointError: learning diverged.
            SimulatorError: a worker raised something, or workers were lost too often.
        """
        for _ in range(MOST_LOSSES + 1):
            try:
                return self._try_iteration(learner, iteration)
            except WorkerLostError as error:
                self._say(f"iteration {iteration}: {error}; it begins again with new workers")
                self._team.restart()
                self._has_joined = False
        raise SimulatorError(f"workers were lost {MOST_LOSSES + 1} times", where=f"iteration {iteration}",
                             hint="see the workers' logs; --resume goes on from the checkpoint")  # fmt: skip

    def _try_iteration(self, learner: PpoLearner, iteration: int) -> IterationOutcome:
        count = self._team.count
        if not self._has_joined:
            self._join_workers(learner)
            self._has_joined = True
        sent = [msgspec.msgpack.encode(iteration)] * count
        answers = [msgspec.msgpack.decode(data, type=IterateAnswer) for data in self._team.call_each(ITERATE, sent)]
        for answer in answers:
            if answer.broken:
                raise WorkerLostError(f"the workers do not reach each other: {answer.broken}")
        for answer in answers:
            if answer.diverged:
                raise FloatingPointError(answer.diverged)
        if len({answer.digest for answer in answers}) > 1:
            raise SimulatorError("the workers' learners differ", where=f"iteration {iteration}",
                                 hint="do the nodes have the same version of PyTorch?")  # fmt: skip
        learner.import_state(unpack_arrays(answers[0].state))
        return join_outcomes([answer.outcome for answer in answers if answer.outcome is not None])

    def _join_workers(self, learner: PpoLearner) -> None:
        count, call_each = self._team.count, self._team.call_each
        probe = msgspec.msgpack.encode(OUTSIDE if self._team.is_remote else ("", 0))
        hosts = [answer.decode() for answer in call_each(FIND_ADDRESS, [probe] * count)]
        places = [msgspec.msgpack.encode((rank, count, host)) for rank, host in enumerate(hosts)]
        port = msgspec.msgpack.decode(call_each(OPEN_STORE, places)[0], type=int)
        state = pack_arrays(learner.export_state())
        orders = [
            WorkerOrder(rank=rank, count=count, options=self._options, files=self._files, store=(hosts[0], port),
                        host=host, state=state)
            for rank, host in enumerate(hosts)
        ]  # fmt: skip
        for broken in call_each(JOIN_TEAM, list(map(msgspec.msgpack.encode, orders))):
            if broken:
                raise WorkerLostError(f"the workers do not reach each other: {broken.decode()}")
