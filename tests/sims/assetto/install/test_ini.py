"""INI files: values read as the game's own comments ask, and edits that touch nothing else."""

import configparser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.errors import DataError
from trailbrake.sims.assetto.install import ini

SHIPPED = (
    b"\xef\xbb\xbf[ABOUT]\r\nNAME=\xd0\x98\xd0\x98 ; name ; string\r\n\r\n"
    b"[BASIC]\r\nENABLED=1 ; Active ; boolean\r\n\r\n"
    b"[CUSTOM_AI]\r\nENABLED = 0\t; let other programs drive; boolean\r\nOTHER=a=b\r\n\r\n[LAST]\r\nX=1"
)


def test_values_end_at_a_comment():
    sections = ini.parse_ini(SHIPPED)
    assert sections["BASIC"] == {"ENABLED": "1"}
    assert sections["CUSTOM_AI"] == {"ENABLED": "0", "OTHER": "a=b"}
    assert ini.decode_text(sections["ABOUT"]["NAME"]) == "ИИ"
    assert ini.read_number(sections, "CUSTOM_AI", "ENABLED", 7.0) == 0.0
    assert ini.read_number(sections, "CUSTOM_AI", "OTHER", 7.0) == 7.0
    assert ini.read_number(sections, "NOWHERE", "OTHER", 7.0) == 7.0


def test_one_value_changes_and_nothing_else():
    edited = ini.set_value(SHIPPED, "CUSTOM_AI", "ENABLED", "1")
    assert edited == SHIPPED.replace(b"ENABLED = 0\t;", b"ENABLED = 1\t;")
    assert ini.set_value(edited, "CUSTOM_AI", "ENABLED", "1") == edited


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"[S]\r\nK=1\r\n"),
        (b"[A]\nX=1\n", b"[A]\nX=1\n\n[S]\nK=1\n"),
        (b"[A]\nX=1", b"[A]\nX=1\n\n[S]\nK=1\n"),
        (b"[A]\r\nX=1\r\n\r\n", b"[A]\r\nX=1\r\n\r\n[S]\r\nK=1\r\n"),
        (b"[S]\r\nX=1\r\n\r\n[B]\r\n", b"[S]\r\nX=1\r\nK=1\r\n\r\n[B]\r\n"),
        (b"[S]", b"[S]\nK=1\n"),
        (b"[s]\nk=0\n", b"[s]\nk=1\n"),
        (b"[S] ; note\nK=\n", b"[S] ; note\nK=1\n"),
        (b"[S]\nK=0\n[T]\nK=0\n[S]\nK=5\n", b"[S]\nK=1\n[T]\nK=0\n[S]\nK=1\n"),  # whichever of them counts
        (b"[S]\n;K=0\n", b"[S]\n;K=0\nK=1\n"),
        (b"\xef\xbb\xbf[S]\nK=0\n", b"\xef\xbb\xbf[S]\nK=1\n"),
        (b"[S]\r\nN=\xcf\xf0\xe8\x85\x0c\xe2\r\nK=0\r\n", b"[S]\r\nN=\xcf\xf0\xe8\x85\x0c\xe2\r\nK=1\r\n"),
    ],
)
def test_edits(before, after):
    assert ini.set_value(before, "S", "K", "1") == after
    assert ini.set_value(after, "S", "K", "1") == after
    assert ini.parse_ini(after)["S"]["K"] == "1"


@pytest.mark.parametrize("data", ["[S]\nK=1".encode("utf-16"), b"[S]\0"])
def test_what_is_no_text(data):
    with pytest.raises(DataError, match=r"a\.ini: not a text file that the game reads"):
        ini.set_value(data, "S", "K", "1", "a.ini")


def test_a_file_that_is_far_too_large(monkeypatch):
    monkeypatch.setattr(ini, "MAX_BYTES", 10)
    with pytest.raises(DataError, match="file too large, expected 10 bytes at most, got 11"):
        ini.parse_ini(b"x" * 11)


LINES = st.lists(
    st.sampled_from(
        [b"[S]", b"[T]", b"K=0", b"K = 2 ; c", b"; K=1", b"", b"  ", b"=", b"[", b"J=\xff\x85\x1c", b"plain"]
    )
)


@settings(max_examples=40)
@given(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.booleans(), st.booleans())
def test_any_file_can_be_edited_and_keeps_its_other_lines(lines, newline, end, bom):
    data = (ini.BOM if bom else b"") + newline.join(lines) + (newline if end else b"")
    edited = ini.set_value(data, "S", "K", "1")
    assert ini.parse_ini(edited)["S"]["K"] == "1"
    assert ini.set_value(edited, "S", "K", "1") == edited
    kept = [line for line in data.removeprefix(ini.BOM).split(newline) if not line.startswith(b"K")]
    rest = iter(edited.removeprefix(ini.BOM).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"))
    assert all(line in rest for line in kept if line)  # in order
    assert edited.startswith(ini.BOM) == bom


@settings(max_examples=40)
@given(
    st.dictionaries(st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), st.from_regex(r"[a-z0-9.-]{0,8}", fullmatch=True))
)
def test_it_reads_as_python_s_own_parser_does(values):
    data = ("[S]\n" + "".join(f"{k}={v}\n" for k, v in values.items())).encode()
    peer = configparser.ConfigParser(interpolation=None)
    peer.read_string(data.decode())
    assert ini.parse_ini(data)["S"] == {k.upper(): v for k, v in peer["S"].items()}
