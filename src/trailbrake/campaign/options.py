"""How a campaign runs, of all verbs that have one. Declarations: help imports it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CampaignOptions:
    """How a campaign runs.

    Attributes:
        jobs: cases to run at a time, each in a process; 0 = one per two cores.
        on: where cases run: left out, on this machine (see --jobs); ray = on the Ray cluster of this machine or a new
            one; ray://HOST:PORT = on another; see docs/scale.md.
        again: run cases again whose results are there.
        patience: wall time after which a case that does not end is given up, s.
    """

    jobs: int = 0
    on: str = ""
    again: bool = False
    patience: float = 3600.0
