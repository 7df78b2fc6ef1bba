"""`LastResort`: bytes in shared memory that brake a car, or give a simulation its own pace back."""

from typing import NamedTuple


class LastResort(NamedTuple):
    """What another process writes when the one that drove a car has died.

    Attributes:
        page: path of the page; on Windows the name of the mapping.
        offset: where to write.
        data: what.
        restores: whether it ends what a client can request of the whole simulation, as a pause. It is written only if
            the page has changed since the drive began; if there was one before, what that held is written.
    """

    page: str
    offset: int
    data: bytes
    restores: bool = False
