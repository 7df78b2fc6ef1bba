import pytest

from trailbrake.errors import UsageError
from trailbrake.name_lists import expand_names, expand_seeds


def test_ranges_stand_for_one_name_per_number():
    assert expand_names("gt3, random:2-4,gen:7-8@wet", "--x") == [
        "gt3", "random:2", "random:3", "random:4", "gen:7@wet", "gen:8@wet",
    ]  # fmt: skip
    assert expand_names("random:1-2:hatchback", "--x") == ["random:1:hatchback", "random:2:hatchback"]
    assert expand_names("my-car-3-4.toml,f1,f1", "--x") == ["my-car-3-4.toml", "f1"]
    for bad in ("", "gt3,", "random:5-2", "gen:1-200000"):
        with pytest.raises(UsageError, match="--x"):
            expand_names(bad, "--x")


def test_seeds_are_whole_numbers_and_ranges_of_them():
    assert expand_seeds("0-1, 1,7", "--x") == [0, 1, 7]
    for bad in ("", "x", "3-1", "gen:1-2"):
        with pytest.raises(UsageError, match="--x"):
            expand_seeds(bad, "--x")
