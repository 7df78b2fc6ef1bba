import json

import pytest
from helpers.picture_drives import record

from trailbrake.cli.main import run_command_line
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.errors import UsageError
from trailbrake.train.clone import clone_policy
from trailbrake.train.options import CloneOptions


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
    with pytest.raises(UsageError, match=r"a name that ends in \.npz"):
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
