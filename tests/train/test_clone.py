import itertools
import json

import numpy as np
import pytest
from helpers import picture_drives
from helpers.picture_drives import record

from trailbrake.cli.main import run_command_line
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.errors import UsageError
from trailbrake.record import Recording
from trailbrake.record.driving_log import export_driving_log
from trailbrake.train.clone import PracticeDrive, clone_policy, compute_expert_answers, plan_practice
from trailbrake.train.options import CloneOptions
from trailbrake.train.sources import find_sources

EXPERT = """
from trailbrake import Controls

class Driver:
    NEEDS = {"image", "speed"}

    def reset(self, course):
        self.time = 0.0

    def act(self, state, dt):
        self.time += dt
        pixels = state.image.pixels.sum(axis=(0, 2), dtype=int)
        where = (39.5 - pixels.argmax()) / 34.0
        return Controls(steer=where, throttle=min(self.time, 1.0) * state.speed, gear=1 if where < 0.8 else -1)
"""


@pytest.mark.parametrize(
    ("changes", "flag"),
    [
        ({"epochs": 0}, "--epochs"), ({"most": 3}, "--most"), ({"held_out": 0.9}, "--held-out"),
        ({"smoothing": -1.0}, "--smoothing"), ({"threads": 0}, "--threads"), ({"rounds": -1}, "--rounds"),
        ({"seconds": float("nan")}, "--seconds"), ({"seed": -1}, "--seed"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_its_flag(tmp_path, changes, flag):
    with pytest.raises(UsageError, match=flag):
        clone_policy([tmp_path], CloneOptions(**changes))


def test_a_policy_must_be_named_as_one(tmp_path):
    with pytest.raises(UsageError, match=r"expected NAME.npz"):
        clone_policy([tmp_path], CloneOptions(out=tmp_path / "policy.pkl"))


def test_no_folder_is_one_line_and_exit_code_2(capsys):
    assert run_command_line(["train", "clone"]) == 2
    assert "trailbrake: train clone: nothing to learn from" in capsys.readouterr().err


@pytest.mark.train
def test_from_recordings_to_a_policy_that_drives_and_a_report(tmp_path, capsys):
    for seed in range(3):
        record(tmp_path / "laps" / f"{seed}.mcap", 220, seed)
    out = tmp_path / "sub" / "policy.npz"
    code = run_command_line(["train", "clone", str(tmp_path / "laps"), "--out", str(out), "--epochs", "2", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert code == 0
    assert result["ended"] == "done"
    assert result["pictures"] > 500
    assert len(result["epochs"]) == 2
    driver = load_driver(f"policy:{out}")
    assert driver.policy.about["from"] == ["0.mcap", "1.mcap", "2.mcap"]
    report = out.with_suffix(".html").read_text(encoding="utf-8")
    assert report.count("data:image/jpeg;base64,") >= 1
    assert "http" not in report.replace("http-equiv", "")


@pytest.mark.train
def test_an_interrupt_leaves_what_was_learned(tmp_path):
    import os
    import signal

    record(tmp_path / "a.mcap", 300)
    out = tmp_path / "policy.npz"

    def progress(share):
        os.kill(os.getpid(), signal.SIGINT)

    result = clone_policy([tmp_path / "a.mcap"], CloneOptions(out=out), progress=progress)
    assert result["ended"] == "interrupted"
    assert load_driver(f"policy:{out}").policy.about["pictures"] > 200


@pytest.fixture
def expert(tmp_path):
    (tmp_path / "expert.py").write_text(EXPERT)
    return str(tmp_path / "expert.py")


def test_the_expert_answers_the_pictures_and_speeds_of_the_recording_in_their_time(tmp_path, expert):
    steers = record(tmp_path / "a.mcap", 60)
    answers = compute_expert_answers(Recording.open(tmp_path / "a.mcap"), expert)
    where = steers / 0.8
    assert answers[:, 0] == pytest.approx(where, abs=0.12)
    forwards = answers[:, 0] < 0.8
    assert answers[forwards, 1] == pytest.approx(np.minimum(0.04 * np.arange(60), 1.0)[forwards], abs=1e-9)
    assert (~forwards).any()
    assert (answers[~forwards, 1] <= 0.0).all()  # backing


def test_the_expert_does_not_answer_a_damaged_picture(tmp_path, expert, monkeypatch):
    whole, numbers = picture_drives.jpeg, itertools.count()
    monkeypatch.setattr(picture_drives, "jpeg", lambda pixels: whole(pixels)[: 200 if next(numbers) == 3 else None])
    record(tmp_path / "a.mcap", 6)
    answers = compute_expert_answers(Recording.open(tmp_path / "a.mcap"), expert)
    assert np.flatnonzero(np.isnan(answers).any(axis=1)).tolist() == [3]


def test_it_practises_where_was_recorded_in_every_paint(tmp_path):
    record(tmp_path / "a.mcap", 5, about={"track": "oval"})
    record(tmp_path / "b.mcap", 5, about={"track": "gen:4"})
    found = plan_practice(find_sources([tmp_path]), CloneOptions(rounds=1))
    looks = [("look=A",), ("look=B",)]
    assert found == [PracticeDrive(track, look) for track in ("oval", "gen:4") for look in looks]
    assert plan_practice(find_sources([tmp_path]), CloneOptions(tracks="kite", look="B")) == [
        PracticeDrive("kite", ("look=B",))
    ]


def test_logs_do_not_say_where_and_experts_must_see(tmp_path):
    record(tmp_path / "a.mcap", 5)
    export_driving_log(Recording.open(tmp_path / "a.mcap"), tmp_path / "log")
    with pytest.raises(UsageError, match="no track to practise on"):
        plan_practice(find_sources([tmp_path / "log"]), CloneOptions(rounds=1))
    with pytest.raises(UsageError, match="this expert needs more than pictures"):
        plan_practice(find_sources([tmp_path / "a.mcap"]), CloneOptions(expert="line_follow"))
