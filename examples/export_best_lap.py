"""Write the best run of a folder as a MoTeC log, a Parquet file and a page: export_best_lap.py FOLDER OUT."""

import sys
from contextlib import closing
from pathlib import Path

from trailbrake.analysis.report import write_report
from trailbrake.record import Recording
from trailbrake.record.motec_export import export_motec
from trailbrake.record.run_frame import export_parquet
from trailbrake.record.run_index import RunIndex, choose_run


def main(folder: str, out: str) -> None:
    place, target = Path(folder), Path(out)
    with closing(RunIndex(place)) as index:
        run = choose_run(index.list_runs(), "best", place)
        recording = Recording.open(index.locate_run(run))
    target.mkdir(parents=True, exist_ok=True)
    print(f"{run.id}: best lap {run.best_s:.3f} s, {export_motec(recording, target / 'best.ld')} samples")
    export_parquet(recording, target / "best.parquet")
    write_report(recording, target / "best.html")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
