"""`LastResort`: bytes in shared memory that brake a car."""

from typing import NamedTuple


class LastResort(NamedTuple):
    """What another process writes when the one that drove a car has died.

    Attributes:
        page: path of the page; on Windows the name of the mapping.
        offset: where to write.
        data: what.
    """

    page: str
    offset: int
    data: bytes
