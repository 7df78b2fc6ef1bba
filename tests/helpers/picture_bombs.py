"""Pictures that claim to be larger than they are, by the public description of PNG."""

import zlib


def claim_size(width, height):
    """Return a PNG whose header claims a size in pixels, with as little behind it as there can be."""
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x00\x00\x00\x00"
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")
        for kind, body in ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(1 << 16))), (b"IEND", b""))
    )
