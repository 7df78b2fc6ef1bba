"""`evaluate`: judges drivers over cars, tracks, seeds and conditions."""

from typing import Annotated, Any

from cyclopts import Parameter

from trailbrake.analysis.lap_table import format_lap_time, format_number, format_ratio
from trailbrake.cli.output import JsonFlag, OpenFlag, answer, open_page, print_json, print_table, wrap_text
from trailbrake.cli.terminal_progress import TaskProgress
from trailbrake.evaluate.options import EvaluationOptions, EvaluationRunOptions


def evaluate(
    suite: str = "",
    /,
    *,
    options: Annotated[EvaluationOptions | None, Parameter(name="*")] = None,
    running: Annotated[EvaluationRunOptions | None, Parameter(name="*")] = None,
    open: OpenFlag = False,
    json: JsonFlag = False,
) -> int:
    """Judge drivers: drive cars x tracks x drivers x seeds x conditions, and compare the laps; see docs/evaluate.md.

    Args:
        suite: a benchmark suite in place of cars, tracks, sims, seeds, laps and conditions: suite/race-v1 or
            suite/overtake-v1.
        options: what to judge.
        running: how.
        open: open the page in the browser.
        json: print one JSON object on stdout.
    """
    if suite:
        return _evaluate_suite(suite, options or EvaluationOptions(), running or EvaluationRunOptions(), open, json)
    from trailbrake.evaluate.evaluation import evaluate as run_evaluation

    with TaskProgress("evaluating", wanted=not json) as show:
        result = run_evaluation(
            options or EvaluationOptions(), running or EvaluationRunOptions(), show.show_message, show.show_share
        )
    open_page(result["page"], open)
    answer(result, _print_result, json=json)
    return int(any(row["outcome"] == "error" for row in result["cells"]))


def _evaluate_suite(
    name: str, options: EvaluationOptions, running: EvaluationRunOptions, open: bool, json: bool
) -> int:
    from trailbrake.evaluate.evaluation import default_folder
    from trailbrake.evaluate.overtaking.scenes import list_overtaking_suites

    if name in list_overtaking_suites():
        return _evaluate_overtaking(name, options, running, json)
    from trailbrake.evaluate.suite_evaluation import evaluate_suite, rank_suite_runs

    if running.board:
        result = rank_suite_runs(name, running.board, running.out or default_folder())
        open_page(result["page"], open)
        answer(result, _print_suite, json=json)
        return 0
    with TaskProgress("evaluating", wanted=not json) as show:
        result = evaluate_suite(name, options, running, show.show_message, show.show_share)
    open_page(result["page"], open)
    answer(result, _print_suite, json=json)
    failed = any(row["outcome"] == "error" for row in result["cells"])
    return int(failed or (result["check"] is not None and not result["check"]["repeats"]))


def _evaluate_overtaking(name: str, options: EvaluationOptions, running: EvaluationRunOptions, json: bool) -> int:
    from trailbrake.evaluate.overtaking.overtaking_evaluation import evaluate_overtaking

    with TaskProgress("evaluating", wanted=not json) as show:
        result = evaluate_overtaking(name, options, running, show.show_message, show.show_share)
    if json:
        print_json(result)
    else:
        print_table(
            name,
            ["driver", "class", "scenes", "passed", "contact", "off the road", "after", "lost", "rival lost", "pace"],
            [[score["driver"], score["kind"], str(score["scenes"]),
              *(_format_share(score[key]) for key in ("passed", "contact", "off_road")),
              *(format_number(score[key], ".1f", " s") for key in ("after_s", "lost_s", "rival_lost_s")),
              format_number(score["ratio"], ".3f")] for score in result["scores"]],
        )  # fmt: skip
        print(f"result {result['file']}")
    return int(any(score["errors"] for score in result["scores"]))


def _format_share(share: dict[str, float]) -> str:
    return f"{100.0 * share['share']:.1f} % ({100.0 * share['low']:.1f} to {100.0 * share['high']:.1f})"


def _print_suite(result: dict[str, Any]) -> None:
    print_table(
        "Cells",
        ["track", "car", "driver", "laps", "best", "reference", "over", "off", "outcome"],
        [[row["track"], row["car"], row["driver"],
          f"{sum(lap['valid'] for lap in row['laps'])} of {len(row['laps'])}", format_lap_time(row["best_s"]),
          format_lap_time(row["reference_s"]), format_ratio(row["ratio"]),
          f"{row['off_track_count']}, {row['off_track_s']:.1f} s",
          row["outcome"] + (f": {row['ended']}" if row["ended"] else "")] for row in result["cells"]],
    )  # fmt: skip
    print_table(
        f"suite/{result['suite']}: over the reference laps",
        ["", "driver", "cells", "crash rate", "valid laps", "mean", "median", "least", "most", "steps", "processor"],
        [[str(place), score["driver"], f"{score['cells']} of {score['of']}", f"{100.0 * score['crash_rate']:.0f} %",
          f"{score['valid_laps']} of {score['laps_to_drive']}",
          *(format_ratio(score[f"ratio_{key}"]) for key in ("mean", "median", "least", "most")),
          str(score["steps"]), f"{score['processor_h']:.4f} h"] for place, score in enumerate(result["scores"], 1)],
    )  # fmt: skip
    if (check := result["check"]) is not None:
        for row in check["differ"]:
            print(f"{row['driver']}, {row['car']} on {row['track']}: was {row['was']}, is {row['is']},"
                  f" {row['deviation_s']:.6f} s apart")  # fmt: skip
        code = "the same code" if check["same_code"] else f"other code (version {check['trailbrake']} then)"
        print(f"{check['cells'] - len(check['differ'])} of {check['cells']} cells repeat, {code}, laps at most"
              f" {check['deviation_s']:.6f} s apart")  # fmt: skip
    print(f"{result['drove']} cells driven, {result['kept']} kept, {result['wall_s']:.0f} s")
    if result["file"]:
        print(f"result {result['file']}")
    print(f"page   {result['page']}")


def _print_result(result: dict[str, Any]) -> None:
    print_table(
        "Cells",
        ["sim", "track", "car", "driver", "believes", "condition", "laps", "best", "ratio", "lost", "off", "stuck",
         "progress", "outcome"],
        [[row["sim"], row["track"], row["car"], row["driver"],
          row["believes"] if row["role"] == "judged" else row["role"], row["condition"],
          f"{sum(lap['valid'] for lap in row['laps'])} of {len(row['laps'])}", format_lap_time(row["best_s"]),
          format_ratio(row["ratio"]), format_number(row["time_lost_s"], "+.2f", " s"),
          f"{row['off_track_count']}, {row['off_track_s']:.1f} s", f"{row['stuck_s']:.0f} s",
          format_number(row["mean_progress_mps"], ".1f", " m/s"),
          row["outcome"] + (f": {row['ended']}" if row["ended"] else "")] for row in result["cells"]],
    )  # fmt: skip
    print_table(
        "Summary",
        ["sim", "driver", "believes", "condition", "cells", "clean", "off", "crash", "error", "ratio: median",
         "least", "most", "lost: median", "progress"],
        [[group["sim"], group["driver"], group["believes"], group["condition"],
          *(str(group[name]) for name in ("cells", "clean", "off", "crash", "error")),
          *(format_ratio(group["ratio"][name]) for name in ("median", "least", "most")),
          format_number(group["time_lost_s"]["median"], "+.2f", " s"),
          format_number(group["mean_progress_mps"]["mean"], ".1f", " m/s")] for group in result["summary"]],
    )  # fmt: skip
    if any(row["outcome"] != "clean" for row in result["cells"]):
        from trailbrake.evaluate.evaluation_page import OUTCOMES

        print(wrap_text(OUTCOMES))
    if result["car_files"]:
        _print_files(result["car_files"], result["coverage"])
    print(f"{result['drove']} cells driven, {result['kept']} kept\nfolder {result['folder']}\npage   {result['page']}")


def _print_files(files: list[dict[str, Any]], coverage: dict[str, Any]) -> None:
    """Print errors, with a star where the truth is outside of the file's 95 % interval, and how often it is inside."""
    from trailbrake.evaluate.evaluation_page import mark_outside

    shares = ("lateral_grip", "braking", "drive_force", "downforce", "steer_angle")
    print_table(
        "Believed car files against the truth",
        ["file", "car", *(name.replace("_", " ") for name in shares), "delay", "numbers within", "planned grip"],
        [[row["file"], row["car"],
          *(format_number(100.0 * row[name], "+.1f", " %") + mark_outside(row, name) for name in shares),
          f"{1e3 * row['delay_s']:+.1f} ms" + mark_outside(row, "delay_s"),
          f"{row['numbers_within']} of {row['numbers']}", f"{100.0 * row['planned_share']:.0f} %"] for row in files],
    )  # fmt: skip
    if coverage:
        inside = ", ".join(
            f"{name.replace('_', ' ')} {100.0 * share:.0f} %" for name, share in coverage.items() if name != "files"
        )
        print(f"truth in the 95 % intervals of {coverage['files']} files: {inside}")
