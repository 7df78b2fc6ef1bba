"""Link and host of udacity_mpc over real sockets, in lockstep."""

import pytest
from helpers.event_pairs import Ends


@pytest.fixture(params=["auto", "bare"])
def ends(request, tmp_path):
    made = Ends("udacity_mpc", tmp_path, dialect=request.param)
    made.link.open(0.0)
    yield made
    made.close()
