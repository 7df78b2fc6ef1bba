import base64
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from trailbrake.errors import WireError
from trailbrake.transport import picture
from trailbrake.transport.picture import Pictures

GREY = np.full((120, 160, 3), 90, np.uint8)


@pytest.mark.parametrize("form", ["JPEG", "PNG", "TGA"])
def test_a_picture_of_each_form_comes_back(form):
    data = picture.encode(GREY, form)
    with Image.open(BytesIO(data)) as opened:
        assert (opened.format, opened.size) == (form, (160, 120))
    seen = Pictures(8, 8, lambda: None).decode(picture.from_base64(picture.to_base64(data), "image"))
    assert np.abs(seen.astype(int) - 90).max() <= 1


def test_a_damaged_picture_shows_the_last_good_one():
    spoilt = []
    pictures = Pictures(120, 160, lambda: spoilt.append(1))
    assert not pictures.decode(b"").any()  # black: none was good yet
    good = pictures.decode(picture.encode(GREY))
    assert pictures.decode(picture.encode(GREY)[:300]) is good
    assert len(spoilt) == 2


@given(st.binary(max_size=200))
def test_no_bytes_break_it(data):
    assert Pictures(8, 8, lambda: None).decode(data).ndim == 3


def test_base64():
    assert picture.to_base64(b"\x00\xffm") == base64.b64encode(b"\x00\xffm").decode()
    for bad in (None, 5, "no base64!", "A", "ÄÖ=="):
        with pytest.raises(WireError, match="image: not base64"):
            picture.from_base64(bad, "image")
