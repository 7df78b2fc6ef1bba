import numpy as np
import pytest

from trailbrake.vision import lanes
from trailbrake.vision.lanes import PaintColour
from vision import draw


def frame(**where):
    return draw.through_jpeg(draw.frame(**where))


@pytest.mark.parametrize(
    ("colour", "kind"),
    [((255, 39, 54), PaintColour.RED), ((240, 92, 85), PaintColour.RED), ((96, 126, 160), PaintColour.BLUE),
     ((106, 176, 95), PaintColour.GREEN), ((255, 255, 255), PaintColour.WHITE),
     ((171, 170, 0), PaintColour.OTHER), ((0, 0, 0), PaintColour.OTHER),
     ((40, 36, 30), PaintColour.OTHER)],
)  # fmt: skip
def test_colours_of_the_page_are_told_apart(colour, kind):
    spread = np.array(colour) + np.arange(-8, 9)[:, None]
    assert (lanes.classify_paint(np.clip(spread, 0, 255).astype(np.uint8)) == kind).all()


@pytest.mark.parametrize("yaw", [-0.2, 0.0, 0.2])
def test_the_view_from_above_keeps_metres(yaw):
    kinds, forward, left = lanes.top_view(frame(look="A", yaw=yaw))
    across = left * np.cos(yaw) + forward * np.sin(yaw)
    assert abs(across[(kinds == PaintColour.RED) & (across < 0.2)].min()) < 0.02
    assert kinds.shape == forward.shape == left.shape


@pytest.mark.parametrize(("yaw", "x"), [(0.0, -0.2), (0.15, -0.1), (-0.15, -0.25)])
@pytest.mark.parametrize("lane", [1.5, -1.5])
def test_chevrons_say_which_way_the_road_goes(yaw, x, lane):
    y = lane * draw.LANE
    assert lanes.chevron_direction(frame(look="B", x=x, y=y, yaw=yaw)) == "forward"
    assert lanes.chevron_direction(frame(look="B", x=x + 1.2, y=y, yaw=yaw + np.pi)) == "backward"


def test_no_chevrons_no_answer():
    assert lanes.chevron_direction(frame(look="A")) == ""
    assert lanes.chevron_direction(np.zeros((240, 320, 3), np.uint8)) == ""
