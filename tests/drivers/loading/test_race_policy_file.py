import json

import numpy as np
import pytest
from helpers.race_policies import follow_plan

from trailbrake.control.network import NetworkLayer
from trailbrake.drivers.loading.race_policy import normalise, read_race_policy, write_race_policy
from trailbrake.errors import DataError
from trailbrake.observe.actions import CommandLimits

RNG = np.random.default_rng(1)


@pytest.fixture
def file(tmp_path):
    write_race_policy(tmp_path / "a.npz", follow_plan())
    return tmp_path / "a.npz"


def test_a_policy_comes_back_as_it_was(tmp_path):
    policy = follow_plan(limits=CommandLimits(period=0.03, steer_rate=1.5, pedal_rate=5.0))
    write_race_policy(tmp_path / "a.npz", policy)
    again = read_race_policy(tmp_path / "a.npz")
    assert (again.observe, again.limits, again.about) == (policy.observe, policy.limits, policy.about)
    seen, before = RNG.normal(size=policy.mean.shape).astype(np.float32), np.array([0.1, -0.2])
    assert np.array_equal(again.compute_commands(seen, before), policy.compute_commands(seen, before))


def test_numbers_are_normalised_and_bounded():
    seen = np.array([1.0, 3.0, 1e6], np.float32)
    out = normalise(seen, np.array([1.0, 1.0, 0.0], np.float32), np.array([1.0, 4.0, 1.0], np.float32))
    assert out.tolist() == [0.0, 0.5, 10.0]


def repack(file, header=None, **arrays):
    with np.load(file) as old:
        values = {name: old[name] for name in old.files}
    values |= {"header": np.array(json.dumps(json.loads(str(values["header"])) | (header or {})))} | arrays
    np.savez(file, **values)


WIDTH = follow_plan().mean.size


@pytest.mark.parametrize(
    ("header", "arrays", "said"),
    [
        ({"observe": ["lane"]}, {}, "observes what this version does not supply: lane"),
        ({"observe": ["lane", "sonar"]}, {}, "sonar"),
        ({"observe": []}, {}, "observes"),
        ({"observation": "0" * 16}, {}, "observes what this version does not supply"),
        ({"version": 2}, {}, "a policy of version 2"),
        ({"kind": "trailbrake policy"}, {}, "a file of another kind"),
        ({"limits": {"period": 5.0}}, {}, "period"),
        ({"layers": 2}, {}, "weight1"),
        ({}, {"mean": np.zeros(3, np.float32)}, "mean"),
        ({}, {"scale": np.zeros(WIDTH, np.float32)}, "scale"),
        ({}, {"scale": np.full(WIDTH, np.nan, np.float32)}, "scale"),
        ({}, {"weight0": np.full((2, WIDTH), np.nan, np.float32)}, "not finite"),
        ({}, {"weight0": np.zeros((3, WIDTH), np.float32), "bias0": np.zeros(3, np.float32)}, "outputs"),
    ],
)
def test_a_policy_of_something_else_is_refused_in_one_line(file, header, arrays, said):
    repack(file, header, **arrays)
    with pytest.raises(Exception, match=said) as caught:
        read_race_policy(file)
    assert "\n" not in str(caught.value)


def test_a_file_that_was_cut_is_refused(file):
    whole = file.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 5):
        file.write_bytes(whole[:size])
        with pytest.raises(DataError, match="not a policy"):
            read_race_policy(file)


def test_networks_of_several_layers_are_read(tmp_path):
    layers = [
        NetworkLayer(RNG.normal(size=(5, WIDTH)).astype(np.float32), np.zeros(5, np.float32)),
        NetworkLayer(RNG.normal(size=(2, 5)).astype(np.float32), np.zeros(2, np.float32)),
    ]
    write_race_policy(tmp_path / "a.npz", follow_plan(layers=layers))
    assert [layer.weight.shape for layer in read_race_policy(tmp_path / "a.npz").layers] == [(5, WIDTH), (2, 5)]
