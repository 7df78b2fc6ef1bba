"""How a campaign runs, of all verbs that have one. Declarations: help imports it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CampaignOptions:
    """How a campaign runs.

    Attributes:
        jobs: cases at a time, each in a process; 0 = one per two cores.
        on: where cases run: default this machine; ray = this machine's Ray cluster or a new one; ray://HOST:PORT =
            another; see docs/scale.md.
        again: run finished cases again.
        patience: s of wall time after which a case is given up.
    """

    jobs: int = 0
    on: str = ""
    again: bool = False
    patience: float = 3600.0
