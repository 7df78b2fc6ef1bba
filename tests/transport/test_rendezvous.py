from trailbrake.transport import rendezvous


def test_who_has_published_is_found_until_withdrawn(tmp_path):
    assert rendezvous.lookup(tmp_path, "host") is None
    rendezvous.publish(tmp_path, "host", 40123)
    rendezvous.publish(tmp_path, "client", 40124)
    assert rendezvous.lookup(tmp_path, "host") == 40123
    rendezvous.publish(tmp_path, "host", 40125)
    assert rendezvous.lookup(tmp_path, "host") == 40125
    rendezvous.withdraw(tmp_path, "host")
    rendezvous.withdraw(tmp_path, "host")
    assert rendezvous.lookup(tmp_path, "host") is None
    assert rendezvous.lookup(tmp_path, "client") == 40124
    assert [p.name for p in tmp_path.iterdir()] == ["client.port"]


def test_what_is_no_port_is_nobody(tmp_path):
    (tmp_path / "host.port").write_text("soon")
    assert rendezvous.lookup(tmp_path, "host") is None
