from dataclasses import replace

from trailbrake.run.options import TuneOptions
from trailbrake.run.trial_journal import TrialJournal


def test_trials_are_found_again_whatever_was_cut_off(tmp_path):
    path, options = tmp_path / "x.trials.jsonl", TuneOptions()
    journal = TrialJournal(path, options)
    journal.add_trial({"a": 0.1, "b": 1 / 3}, 61.23456789012345)
    with path.open("a") as file:
        file.write('{"search": "half a li')
    journal.add_trial({"a": 0.2, "b": 2.0}, 5.0)
    again = TrialJournal(path, replace(options, trials=9, jobs=3, batch=4))
    assert again.find_cost({"b": 1 / 3, "a": 0.1}) == 61.23456789012345
    assert again.find_cost({"a": 0.2, "b": 2.0}) == 5.0
    assert again.find_cost({"a": 0.2, "b": 2.1}) is None
    assert len(path.read_text().splitlines()) == 3


def test_trials_of_another_search_or_driver_do_not_count(tmp_path):
    driver = tmp_path / "mine.py"
    driver.write_text("one")
    path, options = tmp_path / "x.trials.jsonl", TuneOptions(driver=str(driver))
    TrialJournal(path, options).add_trial({"a": 1.0}, 5.0)
    assert TrialJournal(path, options).find_cost({"a": 1.0}) == 5.0
    assert TrialJournal(path, replace(options, seed=1)).find_cost({"a": 1.0}) is None
    gains = replace(options, config=tmp_path / "gains.toml")
    assert TrialJournal(path, gains).find_cost({"a": 1.0}) is None
    gains = replace(options, config=tmp_path / "gains.toml")
    assert TrialJournal(path, gains).find_cost({"a": 1.0}) is None
    driver.write_text("two")
    assert TrialJournal(path, options).find_cost({"a": 1.0}) is None


def test_lines_that_are_no_trials_are_left_out(tmp_path):
    path, options = tmp_path / "x.trials.jsonl", TuneOptions()
    TrialJournal(path, options).add_trial({"a": 1.0}, 5.0)
    line = path.read_text()
    wrong = (line.replace("5.0", '"5"'), line.replace("5.0", "true"), line.replace("1.0", "null"), "[]\n")
    for text in wrong:
        path.write_text(text)
        assert TrialJournal(path, options).find_cost({"a": 1.0}) is None
