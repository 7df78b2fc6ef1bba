import numpy as np
import pytest

from trailbrake.errors import SimulatorError
from trailbrake.transport.capture import view_page
from trailbrake.transport.capture.view_page import ViewReader, ViewWriter


@pytest.fixture
def page(tmp_path):
    writer = ViewWriter(str(tmp_path))
    reader = ViewReader(str(tmp_path))
    yield writer, reader
    reader.close()
    writer.close()


def picture(level, width=32, height=24):
    return np.full((height, width, 3), level, np.uint8)


def test_each_picture_is_read_once_and_the_newest_counts(page):
    writer, reader = page
    assert reader.grab_pixels() is None
    writer.write_picture(picture(1), 0.1)
    writer.write_picture(picture(2), 0.2)
    got = reader.grab_pixels()
    assert got.shape == (24, 32, 3)
    assert (got == 2).all()
    assert reader.grab_pixels() is None


def test_the_size_may_change(page):
    writer, reader = page
    writer.write_picture(picture(3), 0.1)
    assert reader.grab_pixels().shape == (24, 32, 3)
    writer.write_picture(picture(4, 64, 16), 0.2)
    assert reader.grab_pixels().shape == (16, 64, 3)


def test_what_a_dead_host_left_is_not_new(tmp_path):
    writer = ViewWriter(str(tmp_path))
    writer.write_picture(picture(1), 0.1)
    reader = ViewReader(str(tmp_path))
    assert reader.grab_pixels() is None
    again = ViewWriter(str(tmp_path))  # a host that took over the page
    again.write_picture(picture(5), 0.0)
    assert (reader.grab_pixels() == 5).all()
    reader.close()
    again.close()
    writer.close()


def test_a_picture_that_is_being_written_is_left_alone(page):
    writer, reader = page
    writer.write_picture(picture(1), 0.1)
    writer._page.write(view_page._COUNT.pack(writer._count))  # as in the middle of the next
    assert reader.grab_pixels() is None
    writer.write_picture(picture(2), 0.2)
    assert (reader.grab_pixels() == 2).all()


def test_without_a_host_the_error_names_the_flag(tmp_path):
    with pytest.raises(SimulatorError, match="no served world shows its view; serve it with --view page"):
        ViewReader(str(tmp_path))


def test_the_end_of_the_host_is_seen_and_the_next_one_found(tmp_path):
    writer = ViewWriter(str(tmp_path))
    reader = ViewReader(str(tmp_path))
    writer.close()
    with pytest.raises(SimulatorError, match="has ended"):
        reader.grab_pixels()
    with pytest.raises(SimulatorError, match="no served world"):
        reader.reopen()
    writer = ViewWriter(str(tmp_path))
    reader.reopen()
    writer.write_picture(picture(9), 0.0)
    assert (reader.grab_pixels() == 9).all()
    reader.close()
    writer.close()
