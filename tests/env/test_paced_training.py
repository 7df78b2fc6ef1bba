"""A network that takes 30 ms learns and drives through the wire of a live simulator that waits for it."""

import importlib.util
import signal
import textwrap
import warnings

import pytest
from helpers.processes import command

pytest.importorskip("stable_baselines3")

pytestmark = pytest.mark.rl
NETWORK = """
    import time

    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.torch_layers import FlattenExtractor

    from trailbrake.env.options import RaceOptions
    from trailbrake.observe.state_observer import StateObserver

    torch.set_num_threads(1)
    SUPPLIES = {supplies!r}
    OPTIONS = RaceOptions(
        period=0.02, substeps=20, observe=("motion", "lane"), rewards=("progress",), ends=("backward", "slow")
    )


    class SlowExtractor(FlattenExtractor):
        def forward(self, observations):
            if len(observations) == 1:  # an answer; an update has whole batches
                until = time.perf_counter() + 0.03
                while time.perf_counter() < until:
                    pass
            return super().forward(observations)


    class Driver:
        NEEDS = {{"x", "y", "yaw", "velocity_x", "velocity_y", "yaw_rate", "acceleration_x", "acceleration_y"}}
        COURSE_NEEDS = {{"track", "car"}}

        def reset(self, course):
            self.network = PPO.load({policy!r}, device="cpu")
            task = OPTIONS.build_task()
            self.observer = StateObserver(task, course.track.road, course.car, frozenset(SUPPLIES))

        def act(self, state, dt):
            action, _ = self.network.predict(self.observer.observe(state), deterministic=True)
            return self.observer.decode_action(action)
"""


def load_module(path):
    spec = importlib.util.spec_from_file_location("paced_network", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("sim", "period"), [("assetto", 0.003), ("beamng", 0.005)])
def test_every_sample_waits_for_the_network(tmp_path, monkeypatch, sim, period):
    import gymnasium
    from stable_baselines3 import PPO

    import trailbrake.env.gym  # noqa: F401 - registers
    from trailbrake.sims import registry

    file = tmp_path / "network.py"
    policy = str(tmp_path / "ppo.zip")
    file.write_text(textwrap.dedent(NETWORK.format(policy=policy, supplies=sorted(registry.find(sim).supplies))))
    network = load_module(file)
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    extra = ["--no-classic"] if sim == "assetto" else []
    with command("serve", sim, "--track=pinegrove", *extra, shm=tmp_path) as host, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the library
        host.until("ready ")
        env = gymnasium.make(
            "trailbrake/Link-v0", sim=sim, live=True, pace="driver", track="pinegrove", period=0.02,
            observe=network.OPTIONS.observe, rewards=("progress",), ends=("backward", "slow"),
        )  # fmt: skip
        learner = PPO("MlpPolicy", env, n_steps=16, batch_size=16, n_epochs=2, seed=0, device="cpu",
                      policy_kwargs={"features_extractor_class": network.SlowExtractor, "net_arch": [16]})  # fmt: skip
        learner.learn(32)
        assert all(bool(values.isfinite().all()) for values in learner.policy.state_dict().values())
        learner.save(policy)
        counters = env.unwrapped.core._connection.counters
        assert counters.received > 32 * 0.02 / period
        assert counters.lost <= 0.25 * counters.received  # updates of the policy, and until the pace is found
        env.close()
        words = [f"--sim={sim}", f"--driver={file}", "--track=pinegrove", "--car=gt3", "--pace=driver", "--seconds=0.3"]
        with command("drive", "--live", "--json", "--no-report", f"--out={tmp_path}", *words, shm=tmp_path) as drive:
            assert drive.end(patience=300.0) == 0, drive.said
            answered, lost = drive.summary["loop"]["ticks"], drive.summary["link"]["lost"]
            assert answered + lost >= 0.3 / period - 2
            # The first answers of a network, and a busy machine; at the simulator's own pace nine of ten are lost.
            assert lost <= answered
            assert drive.summary["loop"]["p50_us"] >= 30e3
        host.process.send_signal(signal.SIGTERM)
        assert host.end() == 0
