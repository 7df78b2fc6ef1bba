"""The leaderboard's page: what it says, what it escapes, where its links lead, and how it looks in a real browser."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from helpers.browser import Browser, find

from trailbrake.errors import UsageError
from trailbrake.race.entry_result import EntryResult, JudgedLap
from trailbrake.race.leaderboard_page import build_page, write_page
from trailbrake.race.standings import DayRecord, RaceRecord, build_leaderboard

EVIL = "<b onload='x()'>&\"Bobby\"</b>"


def result(entry, *laps, ended="", folder=None):
    recording = str(folder / "files" / f"{len(entry)} #1.mcap") if folder else ""
    return EntryResult(
        entry=entry, finished=not ended, ended=ended, time_s=float(sum(laps)), best_s=min(laps, default=None),
        laps=tuple(JudgedLap(k + 1, float(t), True, "", 0, 0.0) for k, t in enumerate(laps)), contacts=1, digest="d",
        recording=recording, report="",
    )  # fmt: skip


def board(folder=None, days=("one", "two"), entry=EVIL, season="Cup & Saucer"):
    races = tuple(
        RaceRecord(number=k, track="oval", host=("look=A",), car="", laps=2, seed=k,
             results=(result(entry, 30.5, 31.25, folder=folder), result("b", 29.0, ended="no answer for 4 s")))
        for k in (1, 2, 3)
    )  # fmt: skip
    return build_leaderboard(
        season,
        [DayRecord(name=name, sim="trend", begun="2026-05-04T10:00:00+0000", score="best_lap", points=(10, 8),
                   races=races, drivers={"b": "my driver.py"}) for name in days],
    )  # fmt: skip


def test_a_dead_heat_names_both_winners(tmp_path):
    heat = RaceRecord(number=1, track="oval", host=(), car="", laps=2, seed=0, results=(result("a", 10, 11),
                      result("b", 11, 10), result("c", 12, 12)))  # fmt: skip
    day = DayRecord(name="one", sim="trend", begun="2026-05-04", score="finish", points=(10,), races=(heat,))
    assert "won by a and b in " in build_page(build_leaderboard("Cup", [day]), tmp_path)


class Reader(HTMLParser):
    """Collects the text, the links and the open tags of a page."""

    VOID = ("meta", "link", "br")

    def __init__(self, text):
        super().__init__()
        self.words, self.links, self.open, self.tags = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "a":
            self.links.append(dict(attributes)["href"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words += [data.strip()] if data.strip() else []


def test_the_page_is_whole_and_says_what_the_table_says(tmp_path):
    page = Reader(build_page(board(), tmp_path))
    assert page.open == []
    assert "Cup & Saucer: leaderboard" in page.words
    assert "2 entries, 2 race days, 3 races" not in page.words
    assert "2 entries, 2 race days, 6 races" in page.words
    for text in ("30.500", "29.000", "no answer for 4 s", "my driver.py", "look A"):
        assert text in page.words, text
    assert page.words.count("out") == 0  # b has a best lap in the race that it did not finish


def test_names_are_text_never_markup(tmp_path):
    page = Reader(build_page(board(), tmp_path))
    assert EVIL in page.words
    assert not any(tag == "b" or "onload" in attributes for tag, attributes in page.tags)


def test_links_lead_to_the_files_from_wherever_the_page_is(tmp_path):
    (tmp_path / "files").mkdir()
    path = write_page(board(tmp_path, entry="abc"), tmp_path / "web" / "index.html")
    links = set(Reader(path.read_text(encoding="utf-8")).links)
    assert {unquote(link) for link in links} == {"../files/3 #1.mcap"}
    assert "#" not in links.pop()


def test_nothing_is_fetched(tmp_path):
    text = build_page(board(), tmp_path)
    assert "default-src 'none'" in text
    assert not re.search(r"https?://|src=['\"]|@import|url\(", text)


def test_a_season_without_a_lap(tmp_path):
    races = (RaceRecord(number=1, track="oval", host=(), car="", laps=2, seed=0, results=(result("b", ended="hung"),)),)
    empty = build_leaderboard(
        "Cup", [DayRecord(name="x", sim="trend", begun="2026", score="finish", points=(), races=races)]
    )
    page = Reader(build_page(empty, tmp_path))
    assert "No lap that counts." in page.words
    assert "no entry finished" in page.words
    assert "out" in page.words


def test_a_page_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot write the page"):
        write_page(board(), tmp_path / "file" / "index.html")


def contrast(first, second):
    """Return the contrast of two colours, by the definition of WCAG 2."""

    def light(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(first), light(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.slow
@pytest.mark.skipif(find() is None, reason="no Chromium here")
def test_the_page_in_a_browser(tmp_path):
    path = write_page(board(tmp_path, entry="A rather long name of a team that means well"), tmp_path / "index.html")
    browser = Browser(tmp_path / "profile")
    try:
        browser.open(path.as_uri())
        browser.wait("document.querySelector('.standings td')")
        for theme in ("light", "dark"):
            browser.theme(theme)
            browser.wait(f"document.documentElement.dataset.theme === '{theme}'")
            for place in ("body", ".quiet", ".best", ".place", "small"):
                style = f"getComputedStyle(document.querySelector('{place}')).color"
                back = "getComputedStyle(document.body).backgroundColor"
                assert contrast(browser.evaluate(style), browser.evaluate(back)) >= 4.5, (theme, place)
        for width in (1400, 360):
            browser.size(width, 800)
            assert browser.evaluate("document.documentElement.scrollWidth") <= width  # tables scroll, the page does not
        assert browser.complaints == []
    finally:
        browser.close()
