"""How a campaign runs, of all verbs that have one. Declarations: help imports it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CampaignOptions:
    """How a campaign runs.

    Attributes:
        jobs: cases at a time, in processes; 0 = one per two cores.
        on: where processes run: this machine; ray = this machine's Ray cluster or a new one; ray://HOST:PORT = another:
            docs/scale.md.
        again: run finished cases again.
        patience: s of wall time after which a case is given up.
    """

    jobs: int = 0
    on: str = ""
    again: bool = False
    patience: float = 3600.0
