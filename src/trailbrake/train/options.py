"""The options of training; the command line makes its flags from these."""

from dataclasses import dataclass
from pathlib import Path

from trailbrake.campaign.case_run import CampaignOptions


@dataclass(frozen=True, kw_only=True)
class CloneOptions:
    """A policy to learn from recordings.

    Attributes:
        out: the policy, a .npz file.
        epochs: passes over the pictures.
        most: most pictures, held in memory, 11 kB each.
        held_out: share of the drives to judge by instead of learning.
        smoothing: s over which recorded steers are averaged.
        seed: of weights, order and what is held out.
        threads: of the processor.
        rounds: of correction: the policy drives, and learns what the expert would have done.
        expert: who corrects: a driver that needs pictures.
        sim: whose wire the policy drives through then.
        tracks: where it drives then, with commas; default: the tracks of the recordings.
        look: their paints, with commas.
        seconds: s of simulator time on each.
    """

    out: Path = Path("policy.npz")
    epochs: int = 12
    most: int = 30_000
    held_out: float = 0.1
    smoothing: float = 0.1
    seed: int = 0
    threads: int = 1
    rounds: int = 0
    expert: str = "lane_sign"
    sim: str = "trend"
    tracks: str = ""
    look: str = "A,B"
    seconds: float = 40.0


@dataclass(frozen=True, kw_only=True)
class CloneSweepOptions(CampaignOptions):
    """Several policies from the same recordings.

    Attributes:
        sweep: settings to vary, KEY=VALUE,VALUE or KEY=FIRST-LAST; repeatable: seed, epochs, most, rounds, smoothing,
            held_out.
    """

    sweep: tuple[str, ...] = ()
    patience: float = 86400.0
