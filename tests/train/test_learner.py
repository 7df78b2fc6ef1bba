import numpy as np
import pytest
from helpers.picture_drives import record

from trailbrake.control.network import elect_steer, run_network
from trailbrake.drivers.loading.policy import network_input
from trailbrake.errors import UsageError
from trailbrake.observe.image_crop import CropSpec
from trailbrake.train import learner
from trailbrake.train.dataset import gather_dataset
from trailbrake.train.sources import find_sources

CROP = CropSpec(top=0.2, bottom=0.9, height=32, width=40)


def test_without_pytorch_it_is_said_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match=r'pip install "trailbrake\[train\]"'):
        learner.Learner(CROP, 0)


@pytest.fixture
def data(tmp_path):
    for seed in range(4):
        record(tmp_path / f"{seed}.mcap", 300, seed)
    return gather_dataset(
        find_sources([tmp_path]), CROP, most=5000, smoothing=0.0, share=0.2, seed=0, say=lambda text: None
    )


@pytest.mark.train
def test_numpy_answers_what_torch_does(data):
    network = learner.Learner(CROP, 0)
    network.fit(data, 1, lambda share, epoch: True)
    seen = data.pictures[:40]
    wanted = network.compute_outputs(seen)
    layers = network.export_layers()
    found = np.stack([run_network(layers, network_input(picture)) for picture in seen])
    assert found == pytest.approx(wanted, rel=1e-4, abs=1e-4)


@pytest.mark.train
def test_it_learns_what_was_done_and_generalises_to_what_was_held_out(data, monkeypatch):
    monkeypatch.setattr(
        learner, "STEER_PER_WIDTH", -0.8 / 0.85 * 80 / 40
    )  # a post at the side is steered to, not away from
    shares = []
    history = learner.Learner(CROP, 0).fit(data, 8, lambda share, epoch: shares.append(share) or True)
    assert len(history) == 8
    assert history[-1].held_error < 0.08 < 0.3 < np.abs(data.steer[data.held]).mean()
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.train
def test_equal_seeds_learn_alike_and_a_stop_is_heard(data):
    one, two = (learner.Learner(CROP, 3) for _ in range(2))
    for network in (one, two):
        network.fit(data, 1, lambda share, epoch: True)
    assert all(
        np.array_equal(a.weight, b.weight) for a, b in zip(one.export_layers(), two.export_layers(), strict=True)
    )
    assert learner.Learner(CROP, 3).fit(data, 5, lambda share, epoch: False) == []


@pytest.mark.train
def test_mirrored_and_shifted_pictures_keep_steer_and_picture_together(data):
    """A picture's post is where its steer says, whatever was done to both."""
    network = learner.Learner(CROP, 0)
    which = np.arange(len(data))
    pictures, steer, pedal = network._augment_batch(data, which)
    column = pictures.numpy().sum(axis=(1, 2)).argmax(axis=1)
    plain = (19.5 - column) / 17.0 * 0.8  # the steer of an unshifted picture
    before = data.pictures.sum(axis=(1, 3), dtype=np.int64).argmax(axis=1)
    inside = (np.abs(before - 19.5) < 15) & (np.abs(column - 19.5) < 16)
    shift = (plain - np.sign(plain + 1e-9) * np.abs(data.steer)) / -0.8 * 17.0  # columns to the right
    wanted = np.sign(plain) * np.abs(data.steer) - learner.STEER_PER_WIDTH * shift / 40
    clear = inside & (np.abs(data.steer) > 0.25)
    assert clear.sum() > 300
    assert np.median(np.abs(steer - wanted)[clear]) < 0.03
    assert np.array_equal(pedal, data.pedal)
    assert (np.sign(plain) == np.sign(data.steer))[clear].mean() == pytest.approx(0.5, abs=0.1)  # half are mirrored


@pytest.mark.train
def test_too_small_a_crop_is_refused():
    with pytest.raises(UsageError, match="too small a picture"):
        learner.Learner(CropSpec(height=8, width=8), 0)


@pytest.mark.train
def test_nothing_held_out_is_nothing_judged(tmp_path):
    record(tmp_path / "a.mcap", 200)
    data = gather_dataset(
        find_sources([tmp_path]), CROP, most=5000, smoothing=0.0, share=0.0, seed=0, say=lambda text: None
    )
    (epoch,) = learner.Learner(CROP, 0).fit(data, 1, lambda share, epoch: True)
    assert np.isnan(epoch.held_error)
    assert np.isfinite(elect_steer(learner.Learner(CROP, 0).compute_outputs(data.pictures)[:, :-1])).all()
