"""Short flags mean the long ones everywhere; a shell completes names; a word without a flag finds its flag."""

import pytest

from trailbrake.cli.drive_flags import find_given
from trailbrake.cli.flag_names import SHORT_FLAGS, guess_flag, spell_out
from trailbrake.cli.main import build_command_line
from trailbrake.sims import registry


@pytest.mark.parametrize(
    ("word", "flag"),
    [
        ("pinegrove", "--track pinegrove"), ("pinegrove@wet", "--track pinegrove@wet"), ("gt3", "--car gt3"),
        ("line_follow", "--driver line_follow"), ("mine.py", "--driver mine.py"), ("forza", "--sim forza"),
        ("12", "--laps 12"), ("nonsense", ""),
    ],
)  # fmt: skip
def test_a_word_without_a_flag_finds_its_flag(word, flag):
    assert guess_flag(word) == flag


def test_short_flags_are_the_long_ones(cli):
    assert [spell_out(word) for word in ("-t", "-t=x", "--track", "x")] == ["--track", "--track=x", "--track", "x"]
    assert find_given(["-d", "x", "--no-report", "-l=3"]) == {"driver", "report", "laps"}
    assert cli("drive", "-t", "nowhere.csv").error == cli("drive", "--track", "nowhere.csv").error
    assert cli("drive", "-s", "asetto").error == cli("drive", "--sim", "asetto").error
    help_text = cli("drive", "--help").out
    for short, flag in SHORT_FLAGS.items():
        assert f"{flag} {short}" in help_text


@pytest.mark.parametrize(
    ("words", "offered"),
    [("drive --track pi", "pinegrove"), ("drive -d line_t", "line_track"), ("drive --car gt", "gt3"),
     ("drive --sim for", "forza")],
)  # fmt: skip
def test_a_shell_completes_names(cli, words, offered):
    assert offered in cli("__complete", *words.split()).out.split()


def test_a_shell_learns_the_sub_commands_too():
    app = build_command_line(registry.find("assetto"), "--install-completion")
    script = app.generate_completion(shell="bash")
    for name in ("trailbrake", "serve", "beamng", "doctor", "--track"):
        assert name in script
    assert not build_command_line(registry.find("assetto"))["serve"].resolved_commands().keys() & {"beamng"}


def test_every_verb_is_in_one_group():
    app = build_command_line(registry.find("assetto"))
    verbs = [name for name in app.resolved_commands() if not name.startswith("-")]
    groups = {name: [group.name for group in app[name].group] for name in verbs}
    assert all(len(found) == 1 and found != ["Commands"] for found in groups.values()), groups
