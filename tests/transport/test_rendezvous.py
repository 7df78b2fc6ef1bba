from trailbrake.transport import rendezvous


def test_who_has_published_is_found_until_withdrawn(tmp_path):
    assert rendezvous.lookup_port(tmp_path, "host") is None
    rendezvous.publish_port(tmp_path, "host", 40123)
    rendezvous.publish_port(tmp_path, "client", 40124)
    assert rendezvous.lookup_port(tmp_path, "host") == 40123
    rendezvous.publish_port(tmp_path, "host", 40125)
    assert rendezvous.lookup_port(tmp_path, "host") == 40125
    rendezvous.withdraw_port(tmp_path, "host")
    rendezvous.withdraw_port(tmp_path, "host")
    assert rendezvous.lookup_port(tmp_path, "host") is None
    assert rendezvous.lookup_port(tmp_path, "client") == 40124
    assert [p.name for p in tmp_path.iterdir()] == ["client.port"]


def test_what_is_no_port_is_nobody(tmp_path):
    (tmp_path / "host.port").write_text("soon")
    assert rendezvous.lookup_port(tmp_path, "host") is None
