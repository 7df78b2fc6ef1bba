"""Ray's team: its decisions with a stand-in for Ray; with `-m scale`, actors on this machine."""

import sys
import types

import msgspec
import pytest
from helpers.task_module import write_task_module

from trailbrake.errors import SimulatorError
from trailbrake.tasks.pool_choice import open_team
from trailbrake.tasks.ray_team import TeamActor
from trailbrake.tasks.source_digest import hash_source
from trailbrake.tasks.task_worker import TaskAnswer, TaskCall
from trailbrake.tasks.worker_team import WorkerLostError


class ActorError(Exception):
    pass


class TaskError(Exception):
    pass


class LateError(Exception):
    pass


class Reference:
    def __init__(self, actor, arguments):
        self.actor, self.arguments = actor, arguments


class StandIn(types.ModuleType):
    """As much of Ray as a team uses; an actor answers by `answer`."""

    def __init__(self, answer):
        super().__init__("ray")
        self.__version__ = "9.9"
        self.answer, self.killed, self.made = answer, [], 0
        self.exceptions = types.SimpleNamespace(
            RayActorError=ActorError, ObjectLostError=ActorError, NodeDiedError=ActorError, RayTaskError=TaskError,
            GetTimeoutError=LateError,
        )  # fmt: skip

    def init(self, **options):
        pass

    def nodes(self):
        return [{"Alive": True}, {"Alive": True}]

    def remote(self, **options):
        assert options == {"num_cpus": 0, "max_restarts": 0, "scheduling_strategy": "SPREAD"}

        def make():
            self.made += 1
            number = self.made
            call = types.SimpleNamespace(remote=lambda *arguments: Reference(number, arguments))
            return types.SimpleNamespace(answer_call=call, number=number)

        return lambda cls: types.SimpleNamespace(remote=make)

    def wait(self, references, num_returns, timeout):
        assert (num_returns, timeout) == (len(references), 60.0)

    def get(self, reference, timeout):
        return msgspec.msgpack.encode(self.answer(reference.actor, reference.arguments))

    def kill(self, actor):
        self.killed.append(actor.number)

    def shutdown(self):
        pass


def call_both(monkeypatch, answer):
    ray = StandIn(answer)
    monkeypatch.setitem(sys.modules, "ray", ray)
    with open_team("ray", 2, 60.0, lambda number: None, lambda text: None) as team:
        assert team.is_remote
        return ray, team.call_each("base64:b64encode", [b"a", b"b"])


def raise_error(error):
    raise error


def test_each_actor_gets_its_argument_and_is_ended(monkeypatch):
    def answer(actor, arguments):
        source, data = arguments
        assert source == hash_source()
        return TaskAnswer(msgspec.msgpack.decode(data, type=TaskCall).argument * actor)

    ray, answers = call_both(monkeypatch, answer)
    assert answers == [b"a", b"bb"]
    assert ray.killed == [1, 2]


@pytest.mark.parametrize(
    ("error", "raised", "words"),
    [
        (ActorError(), WorkerLostError, "worker 2 of 2 was lost"),
        (LateError(), WorkerLostError, "no answer within 60 s"),
        (TaskError("a\nModuleNotFoundError: x"), SimulatorError, "a node cannot run workers of trailbrake: ModuleNot"),
    ],
)
def test_what_goes_wrong_is_named(monkeypatch, error, raised, words):
    with pytest.raises(raised, match=words):
        call_both(monkeypatch, lambda actor, arguments: raise_error(error) if actor == 2 else TaskAnswer(b"1"))


def test_an_actor_runs_calls_of_the_same_code_alone():
    data = msgspec.msgpack.encode(TaskCall("base64:b64encode", b"a"))
    decode = msgspec.msgpack.Decoder(TaskAnswer).decode
    assert "has other code" in decode(TeamActor().answer_call("x", data)).error
    assert decode(TeamActor().answer_call(hash_source(), data)) == TaskAnswer(b"YQ==")


@pytest.mark.scale
def test_actors_keep_their_processes_and_a_killed_one_is_lost(tmp_path, monkeypatch):
    write_task_module(tmp_path, monkeypatch)
    with open_team("ray", 2, 120.0, lambda number: None, lambda text: None) as team:
        numbers = team.call_each("task_module:process_number", [b"", b""])
        assert team.call_each("task_module:process_number", [b"", b""]) == numbers
        with pytest.raises(WorkerLostError, match="was lost"):
            team.call_each("task_module:end_process", [b"", b""])
        team.restart()
        assert not set(team.call_each("task_module:process_number", [b"", b""])) & set(numbers)
