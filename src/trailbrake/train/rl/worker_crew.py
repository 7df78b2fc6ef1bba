"""`WorkerCrew`: iterations of a training by several workers, each with its share of the cars.

All workers hold the same learner: each learns from its own cars, and gradients are averaged at each step, so that they
stay the same to the bit. What a training finds depends on the number of workers, and not on where they run. The present
state is kept here after each iteration: where a worker is lost, new ones begin that iteration again.
"""

from collections.abc import Callable

import msgspec

from trailbrake.errors import SimulatorError
from trailbrake.system.own_address import OUTSIDE
from trailbrake.tasks.worker_team import WorkerLostError, WorkerTeam
from trailbrake.train.rl.iteration import IterationOutcome, join_outcomes
from trailbrake.train.rl.options import RlOptions
from trailbrake.train.rl.rollout import ReinforcementLearner
from trailbrake.train.rl.training_worker import (
    FIND_ADDRESS,
    ITERATE,
    JOIN_TEAM,
    OPEN_STORE,
    IterateAnswer,
    WorkerOrder,
    pack_arrays,
    pack_options,
    unpack_arrays,
)

MOST_LOSSES = 3  # in one iteration


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

    def run_iteration(self, learner: ReinforcementLearner, iteration: int) -> IterationOutcome:
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

    def _try_iteration(self, learner: ReinforcementLearner, iteration: int) -> IterationOutcome:
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

    def _join_workers(self, learner: ReinforcementLearner) -> None:
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
