"""The flags of `evaluate`. Declarations: help imports it."""

from dataclasses import dataclass
from pathlib import Path

from trailbrake.campaign.case_run import CampaignOptions


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """What to judge. Names in a list have commas between; gen:1-5 and random:1-12 stand for one name per number.

    Attributes:
        sims: whose wires.
        cars: of the embedded world: names, files, random:SEED.
        tracks: of the embedded world: names, files, gen:SEED.
        drivers: who drives: names, FILE.py, FILE.py:Class.
        seeds: of the embedded world: 0,1,2 or 0-2.
        laps: laps of a cell, the first from rest.
        seconds: s of simulator time for a cell; 0 = 300 a lap.
        believed_car: the car that drivers get: a name or file, with {car}, {track} and {sim} in it; unknown = none;
            default: the world's.
        believed_track: the map that they get, likewise.
        condition: changes of the world, KEY=VALUE with commas: docs/evaluate.md; once for each condition; none = no
            change.
        host: options of the embedded simulator, KEY=VALUE as of `serve`.
        config: a TOML file with gains for the drivers.
        gain: constants of the drivers, KEY=VALUE; repeatable.
        reference_driver: whose laps are the reference; default: the same driver with the true car and track.
        reference_host: options of the embedded simulator for the reference; default: those of the cell.
    """

    sims: str = "assetto"
    cars: str = "gt3"
    tracks: str = "hartmoor"
    drivers: str = "line_follow"
    seeds: str = "0"
    laps: int = 3
    seconds: float = 0.0
    believed_car: str = ""
    believed_track: str = ""
    condition: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    config: Path | None = None
    gain: tuple[str, ...] = ()
    reference_driver: str = ""
    reference_host: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EvaluationRunOptions(CampaignOptions):
    """How to run an evaluation.

    Attributes:
        out: folder of the results, which are not driven again. Default: evaluation in the folder of recordings.
        any_version: take results of another version of trailbrake.
        record: keep a recording of each cell.
        files_only: drive nothing; compare the believed car files with the cars.
        check: a result file of a suite to drive again and compare.
        scenes: first scenes of each class of suite/overtake-v1; 0 = all.
        board: result files of a suite, repeatable, whose drivers are ranked; nothing is driven.
    """

    out: Path | None = None
    any_version: bool = False
    record: bool = False
    files_only: bool = False
    check: Path | None = None
    scenes: int = 0
    board: tuple[Path, ...] = ()
