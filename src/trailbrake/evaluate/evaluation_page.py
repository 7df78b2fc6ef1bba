"""`write_page`: an evaluation as one HTML file that needs nothing else."""

from pathlib import Path
from typing import Any

from trailbrake.evaluate.page_tables import build_cell_table, build_table, format_number, format_ratio
from trailbrake.pages.rendering import THEME, escape_html, render_framed_page, write_page_file

PAGE = "evaluation.html"

JsonValues = dict[str, Any]


def write_page(result: JsonValues) -> Path:
    """Write the page of an evaluation (`evaluation.evaluate`) into its folder and return where it is.

    Raises:
        UsageError: it cannot be written.
    """
    return write_page_file(Path(result["folder"]) / PAGE, build_page(result))


def build_page(result: JsonValues) -> str:
    """Return the page as HTML."""
    rows = result["cells"]
    judged = [row for row in rows if row["role"] == "judged"]
    compared = [row for row in rows if row["role"] != "judged"]
    crashes = sum(row["outcome"] == "crash" for row in judged)
    return render_framed_page(
        "evaluation/evaluation.html",
        styles=(THEME, "leaderboard/leaderboard.css", "evaluation/evaluation.css"),
        title="Evaluation",
        subtitle=f"{len(judged)} cells, {crashes} of them with a crash; {len(compared)} to compare with",
        summary=_summary_table(result["summary"]),
        cells=build_cell_table(judged),
        files=_file_section(result["car_files"]),
        compared=build_cell_table(compared) if compared else "<p class='quiet'>None were needed.</p>",
    )


def _summary_table(groups: list[JsonValues]) -> str:
    heads = [("driver", "name"), ("wire", "name"), ("believes", "name"), ("condition", "name"), ("cells", ""),
             ("clean", ""), ("off", ""), ("crash", ""), ("error", ""), ("ratio: median", ""), ("least", ""),
             ("most", ""), ("time lost: median", ""), ("mean speed", "")]  # fmt: skip
    rows = []
    for group in groups:
        names = [group[key] for key in ("driver", "sim", "believes", "condition")]
        counts = [str(group["cells"]), str(group["clean"]), str(group["off"])]
        bad = [f"<td class='{'out' if group[key] else ''}'>{group[key]}</td>" for key in ("crash", "error")]
        figures = [format_ratio(group["ratio"][key]) for key in ("median", "least", "most")]
        figures += [format_number(group["time_lost_s"]["median"], "+.2f", " s"),
                    format_number(group["mean_speed_mps"]["mean"], ".1f", " m/s")]  # fmt: skip
        rows.append("<tr>" + "".join(f"<td class='name'>{escape_html(text)}</td>" for text in names)
                    + "".join(f"<td>{text}</td>" for text in counts) + "".join(bad)
                    + "".join(f"<td>{text}</td>" for text in figures) + "</tr>")  # fmt: skip
    return build_table(heads, rows)


def _file_section(files: list[JsonValues]) -> str:
    if not files:
        return ""
    shares = ("lateral_grip", "braking", "drive_force", "downforce", "steer_angle")
    heads = [("file", "name"), ("car", "name"), *((name.replace("_", " "), "") for name in shares), ("delay", "")]
    rows = [
        f"<tr><td class='name'>{escape_html(row['file'])}</td><td class='name'>{escape_html(row['car'])}</td>"
        + "".join(
            f"<td>{format_number(100.0 * row[name], '+.1f', ' %')}{_mark_outside(row, name)}</td>" for name in shares
        )
        + f"<td>{1e3 * row['delay_s']:+.1f} ms{_mark_outside(row, 'delay_s')}</td></tr>"
        for row in files
    ]
    note = "<p class='quiet'>* the truth is outside of the file's own 95 % interval</p>"
    return f"<section><h2>Believed car files against the truth</h2>{build_table(heads, rows)}{note}</section>"


def _mark_outside(row: JsonValues, name: str) -> str:
    return "*" if row["within"].get(name) is False else ""
