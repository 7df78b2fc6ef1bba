"""How a track's picture lies in the world."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import DataError
from trailbrake.sims.assetto.files import map_ini

STOCK = (
    b"[PARAMETERS]\r\nWIDTH=1000\r\nHEIGHT=800.5\r\nX_OFFSET=250\r\nZ_OFFSET=-100 ; m\r\nMARGIN=20\r\n"
    b"SCALE_FACTOR=2\r\nDRAWING_SIZE=10\r\n"
)


def test_a_stock_file():
    found = map_ini.decode(STOCK)
    assert found == map_ini.Map(1000.0, 800.5, 250.0, -100.0, 20.0, 2.0, 10.0)
    assert found.pixel(-250.0, 300.0) == (0.0, 100.0)
    columns, rows = found.pixel(np.array([-250.0, 0.0]), np.array([300.0, 100.0]))
    assert (columns.tolist(), rows.tolist()) == ([0.0, 125.0], [100.0, 0.0])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"HEIGHT=800.5", b"HEIGHT=tall", r"map.ini: HEIGHT: a parameter of the map is no number, got tall$"),
        (b"WIDTH=1000\r\n", b"", "map.ini: WIDTH: a parameter of the map is no number, got nothing$"),
        (b"SCALE_FACTOR=2", b"SCALE_FACTOR=0", "SCALE_FACTOR: a parameter of the map is no number, got 0$"),
        (b"X_OFFSET=250", b"X_OFFSET=nan", "X_OFFSET: a parameter of the map is no number, got nan$"),
        (b"[PARAMETERS]", b"[OTHER]", "WIDTH: a parameter of the map is no number, got nothing$"),
    ],
)
def test_what_cannot_be_used(old, new, message):
    with pytest.raises(DataError, match=message):
        map_ini.decode(STOCK.replace(old, new))


@given(st.builds(map_ini.Map, *[st.integers(1, 99999).map(float)] * 7))
def test_what_is_written_is_read(parameters):
    assert map_ini.decode(map_ini.encode(parameters)) == parameters


@given(st.binary(max_size=200))
def test_rubbish_is_refused(data):
    with pytest.raises(DataError):
        map_ini.decode(data)
