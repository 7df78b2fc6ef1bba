"""Link and host of udacity over real sockets, in lockstep."""

import pytest
from helpers.event_pairs import Ends


@pytest.fixture
def ends(tmp_path):
    made = Ends("udacity", tmp_path)
    made.link.open(0.0)
    yield made
    made.close()
