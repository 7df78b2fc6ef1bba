import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trailbrake.control.network import NetworkLayer
from trailbrake.drivers.loading import policy_archive
from trailbrake.drivers.loading.policy import ImagePolicy, network_input, read_policy, write_policy
from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.observe.image_crop import CropSpec

RNG = np.random.default_rng(5)
GLANCE = CropSpec(height=12, width=16)


def a_policy():
    conv = NetworkLayer(RNG.normal(size=(2, 3, 3, 3)).astype(np.float32), np.zeros(2, np.float32), 2)
    dense = NetworkLayer(RNG.normal(size=(6, 2 * 5 * 7)).astype(np.float32), np.ones(6, np.float32))
    return ImagePolicy(GLANCE, [conv, dense], {"made": "by a test", "pictures": 3})


@pytest.fixture
def file(tmp_path):
    write_policy(tmp_path / "sub" / "a.npz", a_policy())
    return tmp_path / "sub" / "a.npz"


def test_a_policy_comes_back_as_it_was(tmp_path):
    policy = a_policy()
    write_policy(tmp_path / "a.npz", policy)
    again = read_policy(tmp_path / "a.npz")
    assert (again.glance, again.about) == (policy.glance, policy.about)
    picture = RNG.integers(0, 256, (60, 80, 3), dtype=np.uint8)
    assert again.compute_controls(picture) == policy.compute_controls(picture)


def test_other_programs_can_read_the_weights_without_us(file):
    with np.load(file, allow_pickle=False) as arrays:
        assert json.loads(str(arrays["header"]))["strides"] == [2, 1]
        assert arrays["weight0"].shape == (2, 3, 3, 3)


def test_input_goes_from_minus_one_to_one():
    seen = np.zeros((2, 3, 3), np.uint8)
    seen[0, 1] = (255, 0, 51)
    values = network_input(seen)
    assert values.shape == (3, 2, 3)
    assert values[:, 0, 1] == pytest.approx([1.0, -1.0, -0.6])


def repacked(file, **changes):
    with np.load(file) as arrays:
        values = {name: arrays[name] for name in arrays.files} | changes
    np.savez(file, **values)


def header_with(**changes):
    glance = {"top": 0.35, "bottom": 0.75, "height": 12, "width": 16}
    good = {"kind": "trailbrake policy", "version": 1, "glance": glance, "strides": [2, 1], "about": {}}
    return np.array(json.dumps(good | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"header": header_with(kind="something")}, {"header": header_with(version=2)}, {"header": np.array("{")},
        {"header": header_with(strides=[])}, {"header": header_with(strides=[1] * 1000)},
        {"header": header_with(strides=[1, 1])}, {"header": header_with(glance={"top": 2})},
        {"weight0": np.full((2, 3, 3, 3), np.nan, np.float32)}, {"weight0": np.zeros((2, 3, 3, 3))},
        {"weight1": np.zeros((6, 9), np.float32)}, {"bias1": np.zeros(5, np.float32)},
    ],
)  # fmt: skip
def test_what_is_no_policy_is_refused_in_one_line(file, changes):
    repacked(file, **changes)
    with pytest.raises(DataError, match="not a policy") as caught:
        read_policy(file)
    assert "\n" not in str(caught.value)


def test_a_pickle_inside_is_never_run(file, tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "ran"), "w"))

    repacked(file, weight0=np.array([Bomb()], dtype=object))
    with pytest.raises(DataError):
        read_policy(file)
    file.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(DataError):
        read_policy(file)
    assert not (tmp_path / "ran").exists()


def test_a_small_file_cannot_ask_for_all_the_memory(file, monkeypatch):
    monkeypatch.setattr(policy_archive, "MAX_BYTES", 1 << 20)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("more.npy", b"\0" * (2 << 20))
    with pytest.raises(DataError, match="too large for a policy"):
        read_policy(file)


def test_missing_and_unwritable_places_are_said(tmp_path):
    with pytest.raises(UsageError, match=r"cannot read the policy, got .*make one with"):
        read_policy(tmp_path / "a.npz")
    with pytest.raises(UsageError, match="cannot read the policy"):
        read_policy(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write the policy"):
        write_policy(tmp_path / "file" / "a.npz", a_policy())


@given(st.integers(0, 10**6), st.binary(max_size=40), st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_bytes_are_refused_or_harmless(file, place, other, cut):
    out = io.BytesIO()
    np.savez(out, header=header_with(), weight0=np.zeros((2, 3, 3, 3), np.float32), bias0=np.zeros(2, np.float32),
             weight1=np.zeros((6, 70), np.float32), bias1=np.zeros(6, np.float32))  # fmt: skip
    good = out.getvalue()
    at = place % len(good)
    file.write_bytes(good[:at] + other + (b"" if cut else good[at + len(other) :]))
    try:
        policy = read_policy(file)
    except TrailbrakeError:
        return
    assert np.isfinite(policy.compute_controls(np.zeros((60, 80, 3), np.uint8))).all()
