import pickle

import pytest

from trailbrake import errors
from trailbrake.errors import DataError, TrailbrakeError, describe_os_error, replace_controls, suggest_names

ALL = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, Exception) and value is not TrailbrakeError
]


def test_one_line_says_what_where_expected_got_and_what_to_try():
    error = DataError(
        "wrong value", where="car.toml: body.mass", expected="a number above 0", got="-3", hint="weigh it"
    )
    assert str(error) == "car.toml: body.mass: wrong value, expected a number above 0, got -3; weigh it"
    assert (error.what, error.where, error.expected, error.got, error.hint) == (
        "wrong value", "car.toml: body.mass", "a number above 0", "-3", "weigh it",
    )  # fmt: skip


def test_parts_that_are_not_there_leave_no_trace():
    assert str(TrailbrakeError("no such car")) == "no such car"
    assert str(TrailbrakeError("no such car", hint="buy one")) == "no such car; buy one"


def test_a_message_of_several_lines_becomes_one():
    assert str(TrailbrakeError("first\n  second", got="a\tb")) == "first second, got a b"


@pytest.mark.parametrize("cls", ALL)
def test_every_error_is_one_of_ours_and_says_what_it_is_for(cls):
    assert issubclass(cls, TrailbrakeError)
    assert cls.__doc__


def test_an_error_survives_the_way_out_of_another_process():
    error = pickle.loads(pickle.dumps(DataError("wrong", where="here", got="that")))
    assert isinstance(error, DataError)
    assert (str(error), error.where, error.got) == ("here: wrong, got that", "here", "that")


def test_near_suggests_the_closest_names():
    assert suggest_names("hartmor", ["hartmoor", "pinegrove"]) == "did you mean hartmoor?"


def test_near_lists_all_when_nothing_is_close():
    assert suggest_names("zzz", ["b", "a"]) == "there are: a, b"


@pytest.mark.parametrize(
    ("name", "near"),
    [("nothere", ""), ("silverstone", ""), ("missing", ""), ("mpc", ""), ("pinegrov", "pinegrove"),
     ("Pinegrove", "pinegrove"), ("proving", "proving_ground"), ("hartmoor_long", "hartmoor")],
)  # fmt: skip
def test_what_is_suggested_is_like_the_name(name, near):
    known = ("hartmoor", "northway", "pinegrove", "plain", "proving_ground", "serpent_pass")
    hint = suggest_names(name, known)
    assert hint.startswith(f"did you mean {near}?" if near else "there are: ")


def test_a_list_that_fills_a_page_is_left_out():
    assert suggest_names("zzz", [f"signal_{k}" for k in range(500)]) == ""


def test_near_takes_a_tuple():
    assert suggest_names("gt4", ("gt3", "hatchback")) == "did you mean gt3?"


def test_a_name_out_of_a_file_cannot_steer_a_terminal():
    error = DataError("no \x1b]0;owned\x07 track", where="\x9b2J.csv", got="\x1b[31mred")
    assert str(error) == "?2J.csv: no ?]0;owned? track, got ?[31mred"
    assert replace_controls("Zürich, 筑波\tand\nmore") == "Zürich, 筑波\tand\nmore"


def test_what_the_system_says_is_named_without_its_number_and_file():
    assert describe_os_error(OSError(28, "No space left on device", "a.csv")) == "No space left on device"
    assert describe_os_error(OSError("closed")) == "closed"
    assert describe_os_error(ValueError("embedded null byte")) == "embedded null byte"
