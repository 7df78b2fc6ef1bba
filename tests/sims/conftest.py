"""Link and host of a simulator over real sockets, in lockstep: of the one that the test's folder is named after."""

import pytest
from helpers.event_pairs import Ends

DIALECTS = {"udacity_mpc": ["auto", "bare"], "udacity_pid": ["auto", "bare"]}


def pytest_generate_tests(metafunc):
    if "ends_dialect" in metafunc.fixturenames:
        metafunc.parametrize("ends_dialect", DIALECTS.get(metafunc.definition.path.parent.name, [""]))


@pytest.fixture
def ends(request, tmp_path, ends_dialect):
    made = Ends(request.path.parent.name, tmp_path, **{"dialect": ends_dialect} if ends_dialect else {})
    made.link.open(0.0)
    yield made
    made.close()
