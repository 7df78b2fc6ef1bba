"""Pages of a host as a client without our code reads and writes them."""

from helpers.assetto.foreign_pages import mapped
from trailbrake.sims.assetto import codec, spec


def file_of(session, name, size=4096):
    """Make a page of `size` bytes as a stranger does."""
    return mapped(session.folder / name, size)


def put(page, **controls):
    data = codec.encode_controls(codec.CarControls(**controls))[: len(page)]
    page[: len(data)] = data


def published(session, car=0):
    return codec.decode_car((session.folder / spec.car_name(car)).read_bytes())
