"""Link and host of donkeycar over real sockets, in lockstep."""

import pytest
from helpers.event_pairs import Ends


@pytest.fixture
def ends(tmp_path):
    made = Ends("donkeycar", tmp_path)
    made.link.open(0.0)
    yield made
    made.close()
