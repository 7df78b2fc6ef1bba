"""Pages are one file each, and every asset belongs to one of them."""

import re
from importlib.resources import files

import pytest

from trailbrake.analysis import comparison_page
from trailbrake.dashboard import server
from trailbrake.errors import UsageError
from trailbrake.pages.rendering import (
    FRAME,
    REPORT_SCRIPTS,
    REPORT_STYLES,
    THEME,
    encode_data_url,
    escape_html,
    read_text_asset,
    render_framed_page,
    render_page,
    write_page_file,
)
from trailbrake.pages.svg_chart import CHART_STYLE

ASSETS = files("trailbrake.pages") / "assets"
TEMPLATES = ["report/report.html", "compare/compare.html", FRAME]
FRAMED = [
    "leaderboard/leaderboard.html", "training/training.html", "training/curves.html",
    "evaluation/evaluation.html", "evaluation/suite.html",
    "learning/car.html",
]  # fmt: skip


def names(folder):
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        yield from names(item) if item.is_dir() else [item]


def test_every_asset_is_used_by_a_page():
    there = {item.relative_to(ASSETS).as_posix() for item in names(ASSETS) if item.suffix != ".LICENSE"}
    styles = {
        THEME,
        CHART_STYLE,
        *(f"{name}/{name}.css" for name in ("leaderboard", "training", "evaluation", "compare", "coach")),
    }
    scripts = {*REPORT_SCRIPTS, *comparison_page.SCRIPTS}
    assert there == {*scripts, *REPORT_STYLES, *server._ROUTES.values(), *TEMPLATES, *FRAMED, *styles}


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_page_holds_its_styles_and_loads_nothing(template):
    wanted = set(re.findall(r"\$([a-z]+)", read_text_asset(template))) - {"styles", "scripts"}
    page = render_page(template, styles=[THEME], scripts=["shared/map.js"], **dict.fromkeys(wanted, "<b>here</b>"))
    assert read_text_asset(THEME) in page
    assert page.count("<b>here</b>") >= len(wanted)
    assert not re.search(r"""(src|href)=["'](?!data:)""", page)
    assert "default-src 'none'" in page


@pytest.mark.parametrize("template", FRAMED)
def test_a_page_in_the_frame_has_its_content_and_the_frame_s_head(template):
    wanted = set(re.findall(r"\$([a-z]+)", read_text_asset(template))) - {"title"}
    page = render_framed_page(template, title="a title", styles=[THEME], **dict.fromkeys(wanted, "<b>here</b>"))
    assert page.startswith("<!doctype html>")
    assert "<title>a title</title>" in page
    assert page.count("<b>here</b>") >= len(wanted)
    assert not re.search(r"""(src|href)=["'](?!data:)""", page)
    assert "default-src 'none'" in page


def test_a_value_that_the_template_needs_must_be_given():
    with pytest.raises(KeyError, match="subtitle"):
        render_framed_page("leaderboard/leaderboard.html", styles=[], title="", standings="", days="", digest="")


def test_a_page_is_written_with_its_folder_or_one_line_says_why_not(tmp_path):
    path = write_page_file(tmp_path / "new" / "a.html", "<p>é\n")
    assert path.read_bytes() == "<p>é\n".encode()
    with pytest.raises(UsageError, match="cannot write the page"):
        write_page_file(path / "b.html", "")


def test_a_picture_is_an_address_by_its_kind():
    assert encode_data_url(b"\x89PNG") == "data:image/png;base64,iVBORw=="
    assert encode_data_url(b"\xff\xd8") == "data:image/jpeg;base64,/9g="


def test_texts_are_escaped():
    assert escape_html("<script>\"&'") == "&lt;script&gt;&quot;&amp;&#x27;"
