"""The options of training; the command line makes its flags from these."""

from dataclasses import dataclass
from pathlib import Path

from trailbrake.campaign.options import CampaignOptions


@dataclass(frozen=True, kw_only=True)
class CloneOptions:
    """A policy to learn from recordings.

    Attributes:
        out: the policy to write, a .npz file; its report goes beside it.
        epochs: passes over the pictures.
        most: pictures to learn from at most; they are held in memory, 11 kB each.
        held_out: share of the drives, in parts of some seconds, that is kept from learning and judged by.
        smoothing: s over which recorded steers are averaged: more for keys, less for steady hands.
        seed: of weights, order and what is held out.
        threads: of the processor.
        rounds: of correction: the policy drives, the expert says what it would have done, and that is learned too.
        expert: who corrects: a driver that needs pictures.
        sim: whose wire the policy drives through in correction rounds.
        tracks: where it drives then, with commas between; left out: the tracks of the recordings.
        look: paints of those tracks, with commas between.
        seconds: of simulator time that it drives on each.
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
        sweep: settings to vary, KEY=VALUE,VALUE or KEY=FIRST-LAST, once for each: seed, epochs, most, rounds,
            smoothing, held_out. Every combination is learned, and --out gets the one that steers best on what was held
            out.
    """

    sweep: tuple[str, ...] = ()
    patience: float = 86400.0
