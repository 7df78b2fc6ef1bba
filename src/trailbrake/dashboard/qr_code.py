"""`draw_qr_code`: an address that a camera reads from the terminal."""

import io


def draw_qr_code(text: str) -> list[str]:
    """Return the rows of a QR code in block characters, for light on dark; a hint in its place without segno."""
    try:
        import segno
    except ImportError:
        return ["a QR code of it: pip install segno"]
    out = io.StringIO()
    segno.make(text, micro=False, error="l").terminal(out, border=2, compact=True)
    return out.getvalue().splitlines()
