from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Picture

from trailbrake.transport.image_header import read_image_size


@pytest.mark.parametrize("form", ["JPEG", "PNG", "TGA"])
@pytest.mark.parametrize("size", [(320, 240), (1, 1), (700, 3)])
def test_the_size_is_pillows(form, size):
    out = BytesIO()
    Picture.new("RGB", size).save(out, form)
    assert read_image_size(out.getvalue()) == size


def test_a_progressive_jpeg_with_a_thumbnail_before_its_frame():
    out = BytesIO()
    Picture.new("RGB", (64, 48)).save(out, "JPEG", progressive=True, comment=b"\xff\xc0\x00\x11\x08\xff\xff\xff\xff")
    assert read_image_size(out.getvalue()) == (64, 48)


def test_of_several_frames_the_largest_counts():
    def frame(height, width):
        return b"\xff\xc0\x00\x0b\x08" + height.to_bytes(2, "big") + width.to_bytes(2, "big") + b"\x01\x01\x11\x00"

    assert read_image_size(b"\xff\xd8" + frame(10, 20000) + frame(30000, 5)) == (20000, 30000)


@given(st.binary(max_size=64), st.sampled_from([b"", b"\xff\xd8", b"\xff\xd8\xff\xc0", b"\x89PNG\r\n\x1a\n"]))
def test_no_bytes_break_it(data, start):
    width, height = read_image_size(start + data)
    assert width >= 0
    assert height >= 0
