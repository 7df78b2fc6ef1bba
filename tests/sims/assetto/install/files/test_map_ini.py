"""Position and scale of a track's picture."""

import numpy as np

from trailbrake.sims.assetto.install.files import map_ini

PARAMETERS = map_ini.MapParameters(1000.0, 800.5, 250.0, -100.0, 20.0, 2.0, 10.0)


def test_the_text_is_that_of_a_stock_file():
    assert map_ini.encode_map_ini(PARAMETERS) == (
        b"[PARAMETERS]\r\nWIDTH=1000\r\nHEIGHT=800.5\r\nX_OFFSET=250\r\nZ_OFFSET=-100\r\nMARGIN=20\r\n"
        b"SCALE_FACTOR=2\r\nDRAWING_SIZE=10\r\n"
    )


def test_pixels_of_points():
    assert PARAMETERS.to_pixel(-250.0, 300.0) == (0.0, 100.0)
    columns, rows = PARAMETERS.to_pixel(np.array([-250.0, 0.0]), np.array([300.0, 100.0]))
    assert (columns.tolist(), rows.tolist()) == ([0.0, 125.0], [100.0, 0.0])
