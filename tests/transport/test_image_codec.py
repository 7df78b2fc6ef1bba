import base64
import re
import zlib
from io import BytesIO

import numpy as np
import pytest
from helpers.picture_bombs import claim_size
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL import Image as Picture

from trailbrake.errors import WireError
from trailbrake.transport import image_codec
from trailbrake.transport.image_codec import ImageDecoder, read_image_size

GREY = np.full((120, 160, 3), 90, np.uint8)


@pytest.mark.parametrize("form", ["JPEG", "PNG", "TGA"])
def test_a_picture_of_each_form_comes_back(form):
    data = image_codec.encode_image(GREY, form)
    with Image.open(BytesIO(data)) as opened:
        assert (opened.format, opened.size) == (form, (160, 120))
    seen = ImageDecoder(8, 8, lambda: None).decode_image(
        image_codec.decode_base64(image_codec.encode_base64(data), "image")
    )
    assert np.abs(seen.astype(int) - 90).max() <= 1


def test_a_damaged_picture_shows_the_last_good_one():
    spoilt = []
    pictures = ImageDecoder(120, 160, lambda: spoilt.append(1))
    assert not pictures.decode_image(b"").any()  # black: none was good yet
    good = pictures.decode_image(image_codec.encode_image(GREY))
    assert pictures.decode_image(image_codec.encode_image(GREY)[:300]) is good
    assert len(spoilt) == 2


def test_base64():
    assert image_codec.encode_base64(b"\x00\xffm") == base64.b64encode(b"\x00\xffm").decode()
    for bad in (None, 5, "no base64!", "A", "ÄÖ=="):
        with pytest.raises(WireError, match="image: not base64"):
            image_codec.decode_base64(bad, "image")


@pytest.mark.parametrize("size", [(13_000, 13_000), (2001, 2000), (60_000, 60_000)])
def test_a_picture_bomb_is_refused_by_its_header(size, monkeypatch):
    damaged = []
    decoder = ImageDecoder(8, 8, lambda: damaged.append(1))
    monkeypatch.setattr(Image, "open", lambda *all, **named: pytest.fail("opened"))
    assert decoder.decode_image(claim_size(*size)).shape == (8, 8, 3)
    assert damaged == [1]


@pytest.mark.parametrize("size", [(4001, 1000), (1000, 4001)])
def test_a_png_with_another_part_before_its_header_is_judged_by_its_header(size):
    large = BytesIO()
    Image.new("L", size).save(large, "PNG")
    part = b"teXt" + (8).to_bytes(4, "big") * 2  # where a regular PNG has its size
    part = (8).to_bytes(4, "big") + part + zlib.crc32(part).to_bytes(4, "big")
    data = large.getvalue()[:8] + part + large.getvalue()[8:]
    assert read_image_size(data) == (8, 8)
    with Image.open(BytesIO(data)) as opened:
        assert np.asarray(opened).shape == size[::-1]  # a decoder takes it for a good one
    damaged = []
    decoder = ImageDecoder(4, 4, lambda: damaged.append(1))
    assert decoder.decode_image(data).shape == (4, 4, 3)
    assert damaged == [1]


@pytest.mark.parametrize(("scans", "is_damaged"), [(100, False), (101, True), (3000, True)])
def test_a_picture_of_many_scans_is_refused(scans, is_damaged):
    out = BytesIO()
    Image.fromarray(GREY).save(out, "JPEG", progressive=True)
    data = out.getvalue()
    first = data.index(b"\xff\xda")
    second = data.index(b"\xff\xda", first + 2)
    more = scans - data.count(b"\xff\xda")
    damaged = []
    decoder = ImageDecoder(8, 8, lambda: damaged.append(1))
    seen = decoder.decode_image(data[:second] + data[first:second] * more + data[second:])
    assert (seen.shape, damaged) == (((8, 8, 3), [1]) if is_damaged else ((120, 160, 3), []))


def test_the_largest_picture_is_still_one():
    large = image_codec.encode_image(np.zeros((2000, 2000, 3), np.uint8))
    assert ImageDecoder(8, 8, lambda: pytest.fail("damaged")).decode_image(large).shape == (2000, 2000, 3)


def test_the_smallest_picture_is_one_too():
    pixel = image_codec.encode_image(np.full((1, 1, 3), 90, np.uint8), "PNG")
    assert ImageDecoder(8, 8, lambda: pytest.fail("damaged")).decode_image(pixel).tolist() == [[[90, 90, 90]]]


def test_a_jpeg_has_the_quality_of_the_simulator():
    pixels = np.random.default_rng(1).integers(0, 256, (24, 32, 3), np.uint8)
    with Image.open(BytesIO(image_codec.encode_image(pixels))) as opened:
        tables = opened.quantization
        assert [layer[1:3] for layer in opened.layer] == [(2, 2), (1, 1), (1, 1)]  # chroma at half size both ways
    plain = BytesIO()
    Image.fromarray(pixels).save(plain, "JPEG", quality=75)
    with Image.open(plain) as opened:
        assert tables == opened.quantization


def test_a_picture_without_colours_is_rgb_too():
    grey = BytesIO()
    Image.new("L", (4, 3), 90).save(grey, "PNG")
    pictures = ImageDecoder(6, 8, lambda: pytest.fail("damaged"))
    assert pictures.decode_image(grey.getvalue()).tolist() == [[[90, 90, 90]] * 4] * 3


def test_no_other_format_is_decoded():
    other = BytesIO()
    picture = Image.new("P", (4, 3), 0)
    picture.putpalette([0, 4, 0] * 256)
    picture.save(other, "GIF")
    data = bytearray(other.getvalue())
    data[12:16] = b"\x04\x00\x03\x00"  # aspect and first colour: read as a TGA, its size
    assert read_image_size(bytes(data)) == (4, 3)
    with Image.open(BytesIO(data)) as opened:
        assert (opened.format, opened.size) == ("GIF", (4, 3))
    damaged = []
    black = ImageDecoder(6, 8, lambda: damaged.append(1)).decode_image(bytes(data))
    assert (black.shape, black.dtype, black.any(), damaged) == ((6, 8, 3), np.uint8, False, [1])


@pytest.mark.parametrize(
    ("value", "line"),
    [(["ab"] * 60, rf"^key: not base64, got {re.escape(str(['ab'] * 60)[:40])}$"),
     ("x" * 61, f"^key: not base64: .+, got {'x' * 40}$")],
)  # fmt: skip
def test_what_is_no_base64_is_one_line(value, line):
    with pytest.raises(WireError, match=line):
        image_codec.decode_base64(value, "key")


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
def test_any_bytes_have_a_size(data, start):
    width, height = read_image_size(start + data)
    assert width >= 0
    assert height >= 0
