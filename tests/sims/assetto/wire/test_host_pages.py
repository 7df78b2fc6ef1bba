"""Messages of a host, as a reader without a lock sees them."""

from types import SimpleNamespace

from trailbrake.sims.assetto.wire.host_pages import HostPages


def test_the_packet_id_is_written_last_and_the_message_counted(tmp_path):
    pages, page = HostPages(tmp_path), bytearray(12)
    seen = []

    def write(data, offset=0):
        page[offset : offset + len(data)] = data
        seen.append(bytes(page))

    pages.write_message(SimpleNamespace(write=write), b"\1\0\0\0abcdefgh")
    assert seen == [b"\0\0\0\0abcdefgh", b"\1\0\0\0abcdefgh"]
    assert (pages.counts["messages_out"], pages.counts["bytes_out"]) == (1, 12)
