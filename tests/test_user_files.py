"""Files of others: pipes, devices, sizes, texts, nesting and long numbers; what is refused is one line."""

import contextlib
import os
import socket
import sys
import time
from itertools import pairwise

import msgspec
import pytest
from helpers.processes import command

from trailbrake import user_files
from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.gains import read_gains
from trailbrake.drivers.loading.policy import read_policy
from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.race.plan import read_plan
from trailbrake.race.schedule import read_named_file
from trailbrake.record.driving_log import SkippedRows, read_usable_rows
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.assetto.install.fast_lane import read_fast_lane
from trailbrake.sims.assetto.install.file_edits import read_if_exists
from trailbrake.sims.beamng.signal_contract import load_contract
from trailbrake.sims.forza import raw
from trailbrake.sims.forza.recorder_settings import load_settings
from trailbrake.sims.forza.replay import open_session
from trailbrake.tracks.track_library import load_track
from trailbrake.user_files import open_replacement, parse_xml, write_whole
from trailbrake.world.miniature.track_library import load_miniature_track

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes and devices among its files")

LOADERS = {
    "a.toml": (load_car, read_gains, read_plan, load_track, load_miniature_track),
    "a.yaml": (load_settings,),
    "a.csv": (load_track, load_contract, open_session),
    "fast_lane.ai": (read_fast_lane,),
    "a.mcap": (Recording.open,),
    "a.forza": (raw.read_arrays, lambda path: list(raw.read_raw(path))),
    "a.npz": (read_policy,),
    "driving_log.csv": (lambda path: list(read_usable_rows(path.parent, SkippedRows())),),
    "a.ini": (read_if_exists,),
}
EACH = [(name, load) for name, loads in LOADERS.items() for load in loads]


def message_of(error):
    line = str(error.value)
    assert "\n" not in line
    return line


@posix
@pytest.mark.parametrize(("name", "load"), EACH)
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name, load):
    os.mkfifo(tmp_path / name)
    with pytest.raises(TrailbrakeError) as error:
        load(tmp_path / name)
    assert name in message_of(error)


@posix
@pytest.mark.parametrize(("name", "load"), EACH)
def test_a_device_that_never_ends_is_refused(tmp_path, name, load):
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(TrailbrakeError) as error:
        load(tmp_path / name)
    assert name in message_of(error)


@posix
def test_what_stands_in_for_a_file_is_named(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
    for path, kind in (
        (tmp_path / "pipe", "expected a file, got a pipe"), (tmp_path / "socket", "not a file"),
        ("/dev/zero", "expected a file, got a device"), (tmp_path, "Is a directory"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=kind):
            user_files.open_user_file(path, "car file")
    assert read_named_file("pipe", tmp_path) == b""
    assert not user_files.is_regular_file(tmp_path / "pipe")
    assert not user_files.is_regular_file("a\0b")
    assert not user_files.is_regular_file("x" * 5000)


def test_names_that_no_file_can_have_are_one_line(tmp_path):
    for name in ("a\0b", str(tmp_path / ("x" * 5000))):
        with pytest.raises(UsageError, match="cannot read the car file"):
            user_files.open_user_file(name, "car file")


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # no disk has it: reading it would take hours
    with pytest.raises(DataError, match="the car file is too large, expected 1000000 bytes at most, got 1099511627776"):
        load_car(path)
    path.write_bytes(b"12345")
    assert user_files.read_user_file(path, "file", 5) == b"12345"
    with pytest.raises(DataError, match="too large"):
        user_files.read_user_file(path, "file", 4)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\nb\xff", "x:2: not UTF-8 text"), (b"\xff\xfea\0", "not UTF-8 text, got UTF-16"), (b"a\0", "zero bytes"),
    ],
)  # fmt: skip
def test_what_is_no_text_is_said(data, message):
    with pytest.raises(DataError, match=message):
        user_files.decode_user_text(data, "x")
    assert user_files.decode_user_text("\ufeffä\r\n".encode(), "x") == "ä\r\n"


DEEP = 65
TOO_DEEP = {
    "arrays": "a = " + "[" * DEEP + "]" * DEEP,
    "tables": "a = " + "{a=" * DEEP + "1" + "}" * DEEP,
    "many arrays": "a = " + "[" * 100_000,
    "dots": ".".join("a" * (DEEP + 1)) + " = 1",
    "many dots": "a." * 300_000 + "a = 1",
    "dots in a header": "[" + ".".join("a" * (DEEP + 1)) + "]",
    "quoted dots": '"a b" . ' * (DEEP + 1) + "a = 1",
    "dots within a table": "x = {" + "a." * (DEEP + 1) + "a = 1}",
}


@pytest.mark.parametrize("text", TOO_DEEP.values(), ids=TOO_DEEP)
def test_toml_that_is_nested_too_deeply_is_refused_at_its_line(text):
    begin = time.process_time()
    with pytest.raises(DataError, match=r"x:2: lists and tables are nested too deeply, expected 64 levels at most"):
        user_files.parse_toml("\n" + text, "x")
    assert time.process_time() - begin < 5.0


def test_toml_within_the_limits_is_read_whatever_its_texts_hold():
    text = f'''
        a = {"[" * 60}1.5{"]" * 60}
        b = "{"[" * 100}{"a." * 100}\\" # no comment"  # {"[" * 100}
        c = '{"{" * 100}'
        d = """{"[" * 100} "" \\""" {"a." * 100}"""
        e = \'\'\'{"[" * 100}'{"a." * 100}\'\'\'
        f = [{", ".join(["1.5", "-2.5e-3"] * 200)}]
        {".".join("zyxwvutsr")} = 0x7fffffffffffffff
        g = 1979-05-27T07:32:00.999999Z'''
    values = user_files.parse_toml(text, "x")
    assert len(values["f"]) == 400
    assert values["c"] == "{" * 100


@pytest.mark.parametrize("digits", ["9" * 19, "9" * 400, "9" * 5000, "0x" + "f" * 5000, "-" + "9" * 20])
def test_whole_numbers_have_64_bits(tmp_path, digits):
    for text in (f"a = {digits}", f"a = [{{b = {digits}}}]"):
        with pytest.raises(DataError, match=r"x: (a whole number is too long|not TOML)"):
            user_files.parse_toml(text, "x")
    with pytest.raises(DataError, match=r"x: (a whole number is too long|not YAML)"):
        user_files.parse_yaml(f"a: {digits}", "x")
    path = tmp_path / "a.toml"
    for load, text in (
        (load_car, "name = {}"), (load_track, "width = {}\n[[segment]]\nstraight = 5"), (read_plan, "cars = {}"),
        (read_gains, "[gains.cruise]\nspeed = {}"), (load_miniature_track, "start = {}"),
    ):  # fmt: skip
        path.write_text(text.format(digits))
        with pytest.raises(DataError) as error:
            load(path)
        assert len(message_of(error)) < 500


def test_a_short_text_of_aliases_does_not_fill_the_memory(tmp_path):
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    (tmp_path / "laugh.yaml").write_text("\n".join([*rows, "port: *a9"]))
    with pytest.raises(DataError, match=r"laugh.yaml: not YAML: an alias, \*a0: write out what it stands for"):
        load_settings(tmp_path / "laugh.yaml")


@pytest.mark.parametrize(
    "text",
    ["!!int ''", "!!int x", "!!bool x", "!!float ''", "!!timestamp x", "2001-99-99", "a: " + "1:" * 9000 + "1",
     "[" * 70, "[" * 50_000, "- " * 5000, "{a: " * 70, "a: &x [*x]", "!!python/object/apply:os.getcwd []", "\x01"],
)  # fmt: skip
def test_yaml_of_no_use_is_one_line(text):
    with pytest.raises(DataError) as error:
        user_files.parse_yaml(text, "x")
    assert len(message_of(error)) < 500


def test_yaml_of_settings_is_read():
    assert user_files.parse_yaml("a: 1\nb: [x, 2.5]\n", "x") == {"a": 1, "b": ["x", 2.5]}
    assert user_files.parse_yaml("", "x") is None


def test_half_a_surrogate_pair_is_no_text():
    user_files.check_texts(user_files.parse_json('{"\\ud83d\\ude00": ["\\u00e4", 1, null]}', "x"), "x")
    for text in ('{"\\ud800": 1}', '[["\\udfff"]]'):
        with pytest.raises(DataError, match=r"half a character.*got .ud"):
            user_files.check_texts(user_files.parse_json(text, "x"), "x")


def test_json_has_numbers_of_any_length_and_limited_depth():
    assert user_files.parse_json(f"[1, {'9' * 18}, {'9' * 30}, {'9' * 5000}]", "x") == [
        1,
        10**18 - 1,
        1e30,
        float("inf"),
    ]
    for text in ("[" * 100 + "]" * 100, "[" * 100_000, "{", b"\xff"):
        with pytest.raises(DataError, match=r"x: (not JSON|lists and tables are nested too deeply)"):
            user_files.parse_json(text, "x")


@pytest.mark.slow
@posix
def test_the_command_line_answers_such_files_with_one_line(tmp_path):
    os.mkfifo(tmp_path / "pipe.mcap")
    (tmp_path / "deep.toml").write_text("a = " + "[" * 100_000)
    aliases = ["a: &a [x, x]", *(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in pairwise("abcdefghi"))]
    (tmp_path / "laugh.yaml").write_text("\n".join([*aliases, "port: *i"]))
    for words in (
        ("report", str(tmp_path / "pipe.mcap")), ("race", str(tmp_path / "deep.toml")),
        ("record", "--sim", "forza", "--live", "--config", str(tmp_path / "laugh.yaml")),
    ):  # fmt: skip
        with command(*words, shm=tmp_path) as ended:
            assert ended.end(120.0) == 2, (words, ended.said)
            (line,) = ended.said
            assert "Traceback" not in line


def test_values_that_fit_no_struct_are_one_line_that_names_the_file():
    kind = msgspec.defstruct("Settings", [("count", int)], forbid_unknown_fields=True)
    assert user_files.convert_values({"count": 2}, kind, "no settings", "mine.toml").count == 2
    with pytest.raises(DataError, match=r"^mine.toml: no settings: .* unknown field `cuont`.*; see the page"):
        user_files.convert_values({"count": 2, "cuont": 1}, kind, "no settings", "mine.toml", hint="see the page")


def test_a_file_is_written_whole_and_a_failure_leaves_the_old_one(tmp_path):
    path = tmp_path / "a.json"
    write_whole(path, b"old", "a result")
    with contextlib.suppress(KeyError), open_replacement(path) as file:
        file.write(b"half")
        assert path.read_bytes() == b"old"
        raise KeyError
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a.json", b"old")]
    write_whole(path, b"new", "a result")
    assert path.read_bytes() == b"new"
    with pytest.raises(UsageError, match=r"none.a: cannot write a result, got No such file"):
        write_whole(tmp_path / "none" / "a", b"", "a result")


def test_xml_is_read_and_what_could_fill_the_memory_is_refused():
    root = parse_xml(b"<a><b x='1'>text</b></a>", "a.xml")
    assert (root.tag, root[0].get("x"), root[0].text) == ("a", "1", "text")
    for data, said in (
        (b"", "not XML"),
        (b"<a>", "not XML"),
        (b"<a></b>", "not XML"),
        (b'<?xml version="1.0" encoding="nonsense"?><a/>', "not XML"),
        (b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "a document type"),
        (b"<a>" * 70 + b"</a>" * 70, "nested too deeply"),
    ):
        with pytest.raises(DataError, match=said) as caught:
            parse_xml(data, "a.xml")
        assert str(caught.value).startswith("a.xml: ")
