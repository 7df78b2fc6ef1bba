"""The recorder's settings: the files that exist, and what is wrong with the ones that do not work."""

from pathlib import Path

import pytest

from trailbrake.errors import TrailbrakeError, UsageError
from trailbrake.sims.forza.recorder_settings import RecorderSettings, check_settings, load_settings

# As the first drivers were set up (protocol page, section 4.1).
SEED = """\
port: 2560
output_filename: forza_data.csv
format: csv
append: False
packet_format: fh4
parameter_list:
- norm_driving_line
- speed
- angular_velocity_x
- angular_velocity_y
- angular_velocity_z
- velocity_x
- velocity_y
- velocity_z
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "settings.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_the_seed_s_file_works_unchanged(write):
    settings = load_settings(write(SEED))
    assert settings == RecorderSettings(
        2560, Path("forza_data.csv"), "csv", False, "fh4",
        ("norm_driving_line", "speed", "angular_velocity_x", "angular_velocity_y", "angular_velocity_z", "velocity_x",
         "velocity_y", "velocity_z"),
    )  # fmt: skip
    assert settings.expected == "fh"


def test_every_key_may_be_missing_and_others_are_left_alone(write):
    assert load_settings(write("")) == RecorderSettings()
    assert load_settings(write("# nothing\n")) == RecorderSettings()
    assert load_settings(write("some_key: 3\nport: 5300\n")) == RecorderSettings(port=5300)


def test_the_file_goes_before_the_flags(write):
    flags = RecorderSettings(1, Path("a"), "tsv", True, "sled")
    assert load_settings(write("port: 2\nappend: 'False'"), flags) == RecorderSettings(
        2, Path("a"), "tsv", False, "sled"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("port: many", "port: no port, expected 0..65535, got many"),
        ("port: 70000", "expected 0..65535, got 70000"),
        ("port: true", "no port"),
        ("format: xml", "format: no such format, got xml; there are: csv, tsv"),
        ("packet_format: fh5", "no such format, got fh5; did you mean fh"),
        ("append: maybe", "append: neither true nor false, expected True or False, got maybe"),
        ("parameter_list: speed", "parameter_list: no list, expected lines of - NAME, got speed"),
        ("parameter_list: [speed, best_lap]", "no such parameter, got best_lap; did you mean best_lap_time"),
        ("parameter_list: [velocity]", "no such parameter, got velocity; did you mean velocity_"),
        ("- a\n- b", "no settings, expected KEY: VALUE lines, got list"),
        ("port: [", "not YAML: while parsing"),
        (b"\xff\xfe\x00", "not UTF-8 text"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(write, text, message):
    with pytest.raises(TrailbrakeError) as error:
        load_settings(write(text))
    assert message in str(error.value)
    assert "settings.yaml" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_named():
    with pytest.raises(UsageError, match=r"nowhere\.yaml: cannot read the settings"):
        load_settings("nowhere.yaml")


def test_flags_are_checked_like_the_file():
    assert check_settings(RecorderSettings()) == RecorderSettings()
    with pytest.raises(UsageError, match="record: format"):
        check_settings(RecorderSettings(format="xls"))
