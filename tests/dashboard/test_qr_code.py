"""The code in the terminal is a QR code: its three corners are where a camera looks for them."""

import sys

import pytest

from trailbrake.dashboard.qr_code import draw_qr_code

FINDER = ["█▀▀▀▀▀█", "█ ███ █", "█ ▀▀▀ █", "▀▀▀▀▀▀▀"]  # dark modules as blocks


def test_it_has_the_corners_of_a_qr_code():
    pytest.importorskip("segno")
    rows = draw_qr_code("http://192.168.1.5:8765/0123456789abcdef/")
    assert len({len(row) for row in rows}) == 1
    assert len(rows[0]) <= 80
    dark = [row.translate(str.maketrans("█ ▀▄", " █▄▀")) for row in rows]
    for column in (2, len(rows[0]) - 9):
        assert [row[column : column + 7] for row in dark[1:5]] == FINDER


def test_without_its_package_a_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "segno", None)
    assert draw_qr_code("http://192.168.1.5/") == ["a QR code of it: pip install segno"]
