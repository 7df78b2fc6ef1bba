import pytest

from trailbrake.errors import UsageError
from trailbrake.transport.capture.camera_option import CameraOption, parse_camera


def test_no_text_is_no_camera():
    assert parse_camera("") is None


def test_a_title_may_hold_commas_and_colons():
    assert parse_camera("window:Forza: Horizon 5, the game") == CameraOption("window", "Forza: Horizon 5, the game")


def test_settings_come_in_any_order():
    option = parse_camera("window:BeamNG, rate=60,size=160x120,crop=10,20,300,200")
    assert (option.title, option.rate, option.width, option.height) == ("BeamNG", 60.0, 160, 120)
    assert option.crop.find_region(640, 480) == (10, 20, 300, 200)


def test_a_crop_in_shares_follows_the_window():
    crop = parse_camera("window:x,crop=25%,50%,50%,50%").crop
    assert crop.find_region(800, 600) == (200, 300, 400, 300)
    assert crop.find_region(400, 300) == (100, 150, 200, 150)


def test_a_crop_is_cut_at_the_window_s_edges_and_refused_outside():
    crop = parse_camera("window:x,crop=600,0,100,100").crop
    assert crop.find_region(640, 480) == (600, 0, 40, 100)
    with pytest.raises(UsageError, match="outside of the window, expected a part of 320 x 240"):
        crop.find_region(320, 240)


def test_the_world_has_a_size_and_a_rate():
    assert parse_camera("world,size=640x480,rate=20") == CameraOption("world", width=640, height=480, rate=20.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("window", "no such camera"),
        ("window:", "no such camera"),
        ("window: ,rate=3", "no such camera"),
        ("world:x", "no such camera"),
        ("webcam", "no such camera"),
        ("window:x,size=320", "no size of a picture"),
        ("window:x,size=8x8", "no size of a picture"),
        ("window:x,size=-320x240", "no size of a picture"),
        ("window:x,rate=0", "no rate of pictures"),
        ("window:x,rate=nan", "no rate of pictures"),
        ("window:x,rate=fast", "no rate of pictures"),
        ("window:x,crop=1,2,3", "no crop"),
        ("window:x,crop=0,0,0,10", "no crop"),
        ("window:x,crop=0,0,nan,10", "no crop"),
        ("window:x,crop=-1,0,10,10", "no crop"),
        ("world,crop=0,0,10,10", "cannot be cropped"),
    ],
)
def test_a_wrong_text_is_one_line_that_says_what_is_wrong(text, said):
    with pytest.raises(UsageError, match=said) as raised:
        parse_camera(text)
    assert "--camera" in str(raised.value)
