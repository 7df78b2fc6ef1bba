import pytest

from trailbrake.transport.request_guard import find_refusal, is_address, is_loopback

HERE = ["127.0.0.1:4567"]


@pytest.mark.parametrize(
    ("hosts", "origins"),
    [
        (HERE, []),  # a program
        ([], []),
        (["localhost:4567"], []),
        (["[::1]:4567"], []),
        (HERE, ["http://127.0.0.1:4567"]),  # as websocket-client names itself
        (HERE, ["http://localhost:8000"]),  # allowed by name
        (HERE, ["HTTP://LOCALHOST:8000"]),
    ],
)
def test_programs_and_named_pages_may_come(hosts, origins):
    assert find_refusal(hosts, origins, ["http://localhost:8000"]) == ""


@pytest.mark.parametrize(
    ("hosts", "origins"),
    [
        (HERE, ["http://evil.example"]),
        (HERE, ["null"]),  # a file, or a frame without rights
        (HERE, [""]),
        (HERE, ["http://127.0.0.1:8000"]),  # another server's page
        (HERE, ["https://127.0.0.1:4567"]),
        (HERE, ["http://127.0.0.1:4567.evil.example"]),
        (["evil.example:4567"], ["http://evil.example:4567"]),  # a name that leads here
        (["evil.example:4567"], []),
        (["127.0.0.1.evil.example"], []),
        ([*HERE, "evil.example"], []),
        (HERE, ["http://127.0.0.1:4567", "http://evil.example"]),
    ],
)
def test_pages_of_other_sites_and_foreign_names_are_refused(hosts, origins):
    assert find_refusal(hosts, origins, ["http://localhost:8000"])


def test_other_machines_may_call_an_open_server_by_its_name_and_their_browsers_may_not():
    assert find_refusal(["rig.local:4567"], [], is_local=False) == ""
    assert find_refusal(["rig.local:4567"], ["http://rig.local:4567"], is_local=False)
    assert find_refusal(["192.168.1.5:4567"], ["http://192.168.1.5:4567"], is_local=False) == ""


def test_addresses():
    assert [is_loopback(host) for host in ("127.0.0.1", "127.8.0.1", "localhost", "0.0.0.0", "rig")] == [
        True, True, True, False, False
    ]  # fmt: skip
    assert not is_address("[::1")
    assert not is_address("")
