"""The search for gains: it finds what it can, alone or side by side."""

import shutil
import signal
from dataclasses import replace

import pytest

from trailbrake.drivers.loading import gains
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.errors import UsageError
from trailbrake.sims.registry import find
from trailbrake.tuning.gain_search import GainSearch
from trailbrake.tuning.options import TuneOptions
from trailbrake.tuning.tune import tune_gains


@pytest.mark.slow
def test_tuning_finds_better_gains_and_writes_them(tmp_path):
    # Better to a drive's time is a higher speed, which is the only gain that is searched here.
    out = tmp_path / "found.toml"
    track = tmp_path / "short.toml"
    track.write_text("closed = false\n[[segment]]\nstraight = 150.0\n", "utf-8")
    options = TuneOptions(driver="cruise", track=str(track), trials=4, only="speed", out=out, seed=3)
    said = []
    result = tune_gains(find(options.sim), options, said.append)
    assert result["trials"] == len(said) == 4
    assert result["best_cost_s"] < result["first_cost_s"]
    assert result["gains"]["speed"] > 20.0
    assert gains.read_gains(out)["cruise"]["speed"] == pytest.approx(result["gains"]["speed"], rel=1e-5)
    assert load_driver("cruise", out).gains.speed == pytest.approx(result["gains"]["speed"], rel=1e-5)
    again = tune_gains(find("forza"), replace(options, out=tmp_path / "again.toml"))
    assert again["gains"] == result["gains"]


def _interrupt_after(trials):
    said = []

    def say(line):
        said.append(line)
        if len(said) == trials:
            signal.raise_signal(signal.SIGINT)

    return say


@pytest.mark.slow
def test_an_interrupted_search_writes_what_it_has_found(tmp_path):
    track, out = tmp_path / "short.toml", tmp_path / "found.toml"
    track.write_text("closed = false\n[[segment]]\nstraight = 60.0\n", "utf-8")
    options = TuneOptions(driver="cruise", track=str(track), trials=40, only="speed", out=out)
    result = tune_gains(find(options.sim), options, _interrupt_after(2))
    assert (result["trials"], result["ended"]) == (2, "interrupted")
    assert gains.read_gains(out)["cruise"]["speed"] == pytest.approx(result["gains"]["speed"], rel=1e-5)


def test_what_cannot_be_tuned_is_said(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text("import dataclasses\n@dataclasses.dataclass\nclass G:\n    look: float = 0.6\n"
                    "class Driver:\n    Gains = G\n    def act(self, state, dt): pass\n", "utf-8")  # fmt: skip
    with pytest.raises(UsageError, match=r"Gains: look has no range, expected look: float = quantity\("):
        tune_gains(find("forza"), TuneOptions(driver=str(mine)))
    with pytest.raises(UsageError, match="no gains to tune"):
        tune_gains(find("forza"), TuneOptions(driver="line_follow"))
    with pytest.raises(UsageError, match=r"no such gain, expected .*steer_p.*, got steer_q"):
        tune_gains(find("forza"), TuneOptions(only="steer_q"))
    with pytest.raises(UsageError, match="driver lane_keep needs what assetto does not supply: driving_line"):
        tune_gains(find("assetto"), TuneOptions(sim="assetto"))
    with pytest.raises(UsageError, match=r"--batch 8 suggests eight trials"):
        tune_gains(find("forza"), TuneOptions(jobs=2))
    with pytest.raises(UsageError, match=r"--batch: no number of trials.*got 0"):
        tune_gains(find("forza"), TuneOptions(batch=0))


@pytest.mark.slow
def test_side_by_side_finds_the_same_with_any_number_of_processes(tmp_path):
    track = tmp_path / "short.toml"
    track.write_text("closed = false\n[[segment]]\nstraight = 60.0\n", "utf-8")
    options = TuneOptions(driver="cruise", track=str(track), trials=5, only="speed", out=tmp_path / "found.toml",
                          batch=3, jobs=1)  # fmt: skip
    said = []
    one = tune_gains(find("forza"), options, said.append)
    assert len(said) == one["trials"] == 5
    more = replace(options, jobs=2, out=tmp_path / "more.toml")
    assert tune_gains(find("forza"), more) == {**one, "out": str(more.out)}


@pytest.mark.slow
def test_a_search_that_was_broken_off_goes_on_and_finds_the_same(tmp_path, monkeypatch):
    track = tmp_path / "short.toml"
    track.write_text("closed = false\n[[segment]]\nstraight = 60.0\n", "utf-8")
    options = TuneOptions(driver="cruise", track=str(track), trials=5, only="speed", out=tmp_path / "whole.toml")
    whole = tune_gains(find("forza"), options)
    parts = replace(options, out=tmp_path / "parts.toml")
    tune_gains(find("forza"), replace(parts, trials=2))
    driven, drive = [], GainSearch.trial_cost
    monkeypatch.setattr(GainSearch, "trial_cost", lambda self, values: driven.append(values) or drive(self, values))
    moved = replace(parts, out=tmp_path / "elsewhere" / "parts.toml")  # as on another machine
    moved.out.parent.mkdir()
    shutil.copytree(tmp_path / "parts.trials", moved.out.parent / "parts.trials")
    assert tune_gains(find("forza"), moved) == {**whole, "out": str(moved.out)}
    assert len(driven) == 3
