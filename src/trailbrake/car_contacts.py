"""`ContactLog`: which cars of a world touched each other, when, where and how hard. Pure."""

from typing import Any, NamedTuple

EPISODE_GAP = 0.25  # s without a touch of the same two cars that end a contact: scraping along is one contact


class CarContact(NamedTuple):
    """A contact of two cars, from their first touch to their last.

    Attributes:
        time_s: s of simulator time of the first touch.
        end_s: s of the last.
        first, second: numbers of the cars, the lower first.
        s_m: m along the road, of the first car at the first touch.
        x_m, y_m: m, world, midway between the two centres of mass at the first touch.
        closing_mps: m/s along the normal, the most of all touches.
        impulse_ns: N s on each of the two, of all touches together.
    """

    time_s: float
    end_s: float
    first: int
    second: int
    s_m: float
    x_m: float
    y_m: float
    closing_mps: float
    impulse_ns: float

    def describe(self, car: int) -> str:
        """Return the contact as one line for the recording of `car`, one of the two."""
        other = self.second if car == self.first else self.first
        return (
            f"contact with car {other} at s {self.s_m:.0f} m: closing at {self.closing_mps:.1f} m/s, "
            f"impulse {self.impulse_ns:.0f} N s, {self.end_s - self.time_s:.2f} s"
        )


class ContactLog:
    """The contacts of a session.

    Attributes:
        contacts: in the order of their first touches.
    """

    def __init__(self) -> None:
        self.contacts: list[CarContact] = []
        self._latest: dict[tuple[int, int], int] = {}  # index of the newest contact of two cars

    def add_touch(self, touch: CarContact) -> None:
        """Add what two cars did in one step of the world: a new contact, or more of the one under way."""
        pair = touch.first, touch.second
        index = self._latest.get(pair)
        before = None if index is None else self.contacts[index]
        if index is None or before is None or touch.time_s - before.end_s > EPISODE_GAP:
            self._latest[pair] = len(self.contacts)
            self.contacts.append(touch)
            return
        self.contacts[index] = before._replace(
            end_s=touch.end_s, closing_mps=max(before.closing_mps, touch.closing_mps),
            impulse_ns=before.impulse_ns + touch.impulse_ns,
        )  # fmt: skip

    def list_contacts(self) -> list[dict[str, Any]]:
        """Return the contacts for JSON."""
        return [contact._asdict() for contact in self.contacts]
