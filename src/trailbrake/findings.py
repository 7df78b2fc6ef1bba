"""What the verbs that look at one simulator answer with: `doctor`'s findings and `sniff`'s fields."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "problem", "unknown"]
OWN_COUNTS = "wire"  # group of the fields that are there before a game has sent anything


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a doctor looked at.

    Attributes:
        name: what was looked at.
        verdict: "ok"; "problem": this is why it does not work; "unknown": it cannot be seen from here.
        found: what is there.
        advice: what to do about it; empty where all is well.
    """

    name: str
    verdict: Verdict
    found: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class WireField:
    """One named value of a live wire, as text. `group` is the page or the part of the message it stands in."""

    group: str
    name: str
    value: str
    unit: str = ""
