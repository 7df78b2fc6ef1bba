"""Ray's pool: its decisions with a stand-in for Ray; with `-m scale`, a cluster of two nodes on this machine."""

import os
import socket
import sys
import types

import msgspec
import pytest
from helpers.ports import free_port
from helpers.task_module import write_task_module

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.tasks import ray_pool
from trailbrake.tasks.ray_pool import MOST_LOSSES, NodeCall, RayPool, TeamActor, answer_on_node, check_address
from trailbrake.tasks.sent_files import hash_source
from trailbrake.tasks.task_pool import open_pool, open_team
from trailbrake.tasks.task_worker import TaskAnswer, TaskCall
from trailbrake.tasks.worker_team import WorkerLostError


class LostError(Exception):
    pass


class TaskError(Exception):
    pass


class ClusterError(Exception):
    pass


class StandIn(types.ModuleType):
    """As much of Ray as the pool uses: tasks run when they are waited for, the last one first."""

    def __init__(self, run, processors=2):
        super().__init__("ray")
        self.__version__ = "9.9"
        self.exceptions = types.SimpleNamespace(
            RayTaskError=TaskError, WorkerCrashedError=LostError, NodeDiedError=LostError, ObjectLostError=LostError,
            OutOfMemoryError=LostError, LocalRayletDiedError=LostError, RaySystemError=ClusterError,
        )  # fmt: skip
        self._run, self._processors = run, processors
        self.most_under_way, self.cancelled, self.closed, self.options = 0, [], False, {}

    def init(self, **options):
        self.options = options

    def remote(self, **options):
        assert options == {"num_cpus": 1, "max_retries": 0}
        return lambda function: types.SimpleNamespace(remote=lambda data: (len(data), data))

    def wait(self, references, timeout):
        self.most_under_way = max(self.most_under_way, len(references))
        return references[-1:], references[:-1]

    def get(self, reference):
        call = msgspec.msgpack.decode(reference[1], type=NodeCall)
        return msgspec.msgpack.encode(self._run(call.call.argument))

    def cancel(self, reference, force):
        self.cancelled.append(reference)

    def nodes(self):
        return [{"Alive": True}, {"Alive": False}]

    def cluster_resources(self):
        return {"CPU": float(self._processors)}

    def shutdown(self):
        self.closed = True


def open_stand_in(monkeypatch, run, **more):
    ray, said = StandIn(run, **more), []
    monkeypatch.setitem(sys.modules, "ray", ray)
    return ray, RayPool("ray", 60.0, said.append), said


def test_each_task_is_answered_and_few_are_under_way_at_a_time(monkeypatch):
    ray, pool, said = open_stand_in(monkeypatch, lambda argument: TaskAnswer(argument * 2))
    arguments = [bytes([65 + k]) * (k + 1) for k in range(9)]
    answers = dict(pool.run_tasks("m:f", arguments))
    assert answers == {index: TaskAnswer(argument * 2) for index, argument in enumerate(arguments)}
    assert ray.most_under_way == 4  # two for each processor
    assert said == ["Ray 9.9: 1 node, 2 processors"]
    assert pool.is_remote
    pool.close()
    assert ray.closed


def test_a_lost_task_runs_again_and_a_line_says_so(monkeypatch):
    left = {b"a": 1, b"bb": MOST_LOSSES + 1}

    def run(argument):
        left[argument] = left.get(argument, 0) - 1
        if left[argument] >= 0:
            raise LostError
        return TaskAnswer(b"done")

    _, pool, said = open_stand_in(monkeypatch, run)
    answers = dict(pool.run_tasks("m:f", [b"a", b"bb", b"ccc"]))
    assert (answers[0], answers[2]) == (TaskAnswer(b"done"), TaskAnswer(b"done"))
    assert answers[1].error == f"its process or node was lost {MOST_LOSSES + 1} times"
    assert sum("task 1 was lost" in line for line in said) == 1
    assert sum("task 2 was lost" in line for line in said) == MOST_LOSSES


def test_a_node_without_us_is_an_answer_and_a_cluster_that_is_gone_is_one_line(monkeypatch):
    def fail(error):
        raise error

    _, pool, _ = open_stand_in(monkeypatch, lambda argument: fail(TaskError("a\nModuleNotFoundError: trailbrake\n")))
    ((_, answer),) = pool.run_tasks("m:f", [b""])
    assert answer.error == "a node cannot run tasks of trailbrake: ModuleNotFoundError: trailbrake"
    _, pool, _ = open_stand_in(monkeypatch, lambda argument: fail(ConnectionError("lost\nmore")))
    with pytest.raises(SimulatorError, match="the cluster is gone, got lost; the same command"):
        list(pool.run_tasks("m:f", [b""]))


def test_a_stop_cancels_what_is_under_way(monkeypatch):
    ray, pool, _ = open_stand_in(monkeypatch, lambda argument: TaskAnswer())
    run = pool.run_tasks("m:f", [b"a", b"b", b"c"], lambda: ray.most_under_way > 0)
    next(run)
    with pytest.raises(KeyboardInterrupt):
        list(run)
    assert len(ray.cancelled) == 2


def test_a_node_runs_tasks_of_the_same_code_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(ray_pool, "_worker", None)
    call = TaskCall("base64:b64encode", b"a")
    other = msgspec.msgpack.decode(answer_on_node(msgspec.msgpack.encode(NodeCall(call, "x", 9.0))), type=TaskAnswer)
    assert "has other code" in other.error
    same = msgspec.msgpack.encode(NodeCall(call, hash_source(), 60.0))
    try:
        assert msgspec.msgpack.decode(answer_on_node(same), type=TaskAnswer) == TaskAnswer(b"YQ==")
    finally:
        ray_pool._worker.close()


@pytest.mark.parametrize("address", ["rey", "ray://", "ray://host", "host:port", "host:0", "host:70000", "http://a:1"])
def test_what_is_no_address_is_named(address):
    with pytest.raises(UsageError, match=r"no address of a cluster.*ray://HOST:PORT"):
        check_address(address)


def test_an_address_where_no_cluster_is_is_one_line():
    with pytest.raises(SimulatorError, match=r"no cluster answers.*port 10001; start one with: ray start --head"):
        check_address(f"ray://127.0.0.1:{free_port()}")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            RuntimeError("Version mismatch: The cluster was started with:\n Ray: 2.1"),
            "another version of Ray or Python",
        ),
        (
            ConnectionError("ray client connection timeout"),
            "cannot join the cluster.*got ray client connection timeout",
        ),
    ],
)
def test_a_cluster_that_refuses_is_one_line(monkeypatch, error, words):
    def refuse(**options):
        raise error

    ray = StandIn(None)
    ray.init = refuse
    monkeypatch.setattr(ray_pool, "check_address", lambda address: None)
    with pytest.raises(SimulatorError, match=words) as caught:
        ray_pool.connect(ray, "ray://host:10001")
    assert "\n" not in str(caught.value)


def test_what_ray_prints_is_not_in_what_the_user_asked_for(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", StandIn(lambda argument: print("(raylet) died") or TaskAnswer(b"1")))
    with open_pool("ray", 0, 1.0, lambda job: None, lambda text: None) as pool:
        assert dict(pool.run_tasks("m:f", [b""])) == {0: TaskAnswer(b"1")}
    assert capsys.readouterr() == ("", "(raylet) died\n")


def test_a_token_that_is_here_is_used(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", StandIn(None))
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path)
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.setenv(name, "")  # so that it is restored
        monkeypatch.delenv(name)
    ray_pool.import_ray()
    assert "RAY_AUTH_MODE" not in os.environ
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("secret")
    ray_pool.import_ray()
    assert os.environ["RAY_AUTH_MODE"] == "token"
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    ray_pool.import_ray()
    assert os.environ["RAY_AUTH_MODE"] == "disabled"


def test_without_the_extra_its_name_is_the_hint(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(UsageError, match=r'pip install "trailbrake\[scale\]"'),
        open_pool("ray", 0, 1.0, lambda job: None, lambda text: None),
    ):
        pass


@pytest.mark.scale
def test_a_cluster_answers_as_this_machine_does_and_a_killed_process_costs_one_task(tmp_path, monkeypatch):
    write_task_module(tmp_path, monkeypatch)
    said = []
    with open_pool("ray", 0, 60.0, lambda job: None, said.append) as pool:
        arguments = [bytes([65 + k]) * (k + 1) for k in range(8)]
        answers = dict(pool.run_tasks("base64:b64encode", arguments))
        with open_pool("", 2, 60.0, lambda job: tmp_path / f"log-{job}", said.append) as local:
            assert answers == dict(local.run_tasks("base64:b64encode", arguments))
        (dead,) = (answer for _, answer in pool.run_tasks("task_module:end_process", [b""]))
        assert "exit code 7" in dead.error
        once = str(tmp_path / "killed").encode()
        assert dict(pool.run_tasks("task_module:end_node_process_once", [once])) == {0: TaskAnswer(b"done")}
    assert any("was lost with its process or node" in line for line in said)


@pytest.mark.scale
def test_a_port_that_is_no_cluster_s_is_one_line_within_seconds():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(SimulatorError, match="no server of Ray answers"):
            check_address(f"127.0.0.1:{silent.getsockname()[1]}")


class ActorError(Exception):
    pass


class LateError(Exception):
    pass


class Reference:
    def __init__(self, actor, arguments):
        self.actor, self.arguments = actor, arguments


class RayTeamStandIn(types.ModuleType):
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
    ray = RayTeamStandIn(answer)
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
