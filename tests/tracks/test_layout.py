import pytest

from trailbrake.errors import DataError
from trailbrake.tracks.layout import parse_layout
from trailbrake.tracks.track import DrsZone


def segments(*pairs):
    rows = [f"straight = {p}" if isinstance(p, str) else f"radius = {p[0]}\nturn = {p[1]}" for p in pairs]
    return "".join(f"\n[[segment]]\n{row}\n" for row in rows)


STRAIGHT = "\n[[segment]]\nstraight = 100.0\n"


def test_a_layout_in_our_units():
    arc = "[[segment]]\nradius = 20.0\nturn = -90.0\nwidth = 9.0\nbank = 3.0\nsurface = 'gravel'\nz = 2.0\n"
    layout = parse_layout(f"title = 'T'\nstart = [1, 2, 90]\nwidth = 8.0\n{STRAIGHT}{arc}", "t.toml")
    straight, bend = layout.segments
    assert (layout.title, layout.closed, layout.start) == ("T", True, pytest.approx((1.0, 2.0, 1.5707963)))
    assert (straight.length, straight.turn, straight.width, straight.z) == (100.0, 0.0, 8.0, None)
    assert (bend.length, bend.turn) == pytest.approx((31.4159265, -1.5707963))
    assert bend.curvature == pytest.approx(-1.0 / 20.0)
    assert (bend.width, bend.bank, bend.grip, bend.z) == pytest.approx((9.0, 0.0523599, 0.65, 2.0))
    assert bend.where == "t.toml:7"


def test_zones_of_the_rear_wing_are_stated_none_or_left_to_the_track():
    text = STRAIGHT + "[[drs]]\ndetection = 10.0\nbegin = 40\nend = 90.5\n"
    assert parse_layout(text, "t.toml").drs_zones == (DrsZone(10.0, 40.0, 90.5),)
    assert parse_layout("drs = []\n" + STRAIGHT, "t.toml").drs_zones == ()
    assert parse_layout(STRAIGHT, "t.toml").drs_zones is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("drs = 3\n" + STRAIGHT, "t.toml: drs is no list of tables"),
        (STRAIGHT + "[[drs]]\ndetection = 10.0\nbegin = 40.0\n", "t.toml: end is missing"),
        (STRAIGHT + "[[drs]]\nstart = 10.0\n", "t.toml: unknown key start"),
        ("title = \n", "t.toml: not TOML.*line 1"),
        ("", r"no \[\[segment\]\]"),
        ("segment = 3", r"no \[\[segment\]\]"),
        ("color = 'red'\n" + STRAIGHT, "unknown key color"),
        (segments("10.0\nwidht = 3"), "t.toml:2: unknown key widht; did you mean width"),
        (segments("10.0", "'long'"), "t.toml:5: straight is out of range.*'long'"),
        (segments("nan"), "t.toml:2: straight is out of range"),
        (segments("true"), "t.toml:2: straight is out of range"),
        ("\n[[segment]]\nradius = 30.0\n", "t.toml:2: turn is missing"),
        ("\n[[segment]]\nname = 'x'\n", "t.toml:2: segment is neither"),
        (segments((6.0, 1.0)), "t.toml:2: arc is shorter than 1 m"),
        (segments("10.0\nsurface = 'gras'"), "unknown surface gras; did you mean grass"),
        ("start = [1]\n" + STRAIGHT, "start is wrong"),
        ("closed = 1\n" + STRAIGHT, "closed is neither true nor false"),
        ("title = 1\n" + STRAIGHT, "title is no text"),
    ],
)
def test_a_bad_layout_is_one_clear_line(text, said):
    with pytest.raises(DataError, match=said) as caught:
        parse_layout(text, "t.toml")
    assert "\n" not in str(caught.value)
