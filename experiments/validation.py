"""Compares the world with closed forms, a published lap and an independent model: `validation` of docs/figures.md.

Writes the summary there, and all figures with plots to build/experiments/validation.md.

The cases are in world_validation; tests/validation/test_bars.py holds every bar. Needs the extras "test"
and "plot". The reference lap is beside the repository; TRAILBRAKE_SHARED names another folder.
"""

import sys
import warnings

import matplotlib
from figures_page import DETAILS, SHARED, write_details, write_section
from matplotlib import pyplot
from world_validation.case import Case, Check, Plot
from world_validation.cases import closed_forms, independent_model, reference_lap

matplotlib.use("svg")
# Equal figures give equal files: ids from a fixed salt, text, no date.
pyplot.rcParams.update({"svg.hashsalt": "trailbrake", "svg.fonttype": "none", "font.size": 9, "axes.grid": True,
                        "grid.alpha": 0.3, "path.simplify_threshold": 0.5})  # fmt: skip

PLOTS = DETAILS / "validation"
INTRO = """# Validation

Written by `make validation`. The cases are in `experiments/world_validation`;
`tests/validation/test_bars.py` holds every bar of this page. The cars are those of the library, driven in the world's
own kernels with substeps of 1 ms where nothing else is said; "plain" cars lack what the textbook's formula leaves out,
and no more.
"""


def table(checks: tuple[Check, ...]) -> str:
    """Return the figures as a table."""
    lines = ["| figure | truth | world | difference | bar | |", "|---|---|---|---|---|---|"]
    for check in checks:
        bar = f"{100.0 * check.bar:g} %"
        mark = "holds" if check.holds else "**fails**"
        lines.append(
            f"| {check.what} | {check.truth} | {check.world} | {100.0 * check.difference:.2f} % | {bar} | {mark} |"
        )
    return "\n".join(lines)


def draw(plot: Plot) -> str:
    """Draw a plot; return its line for the page."""
    figure, axes = pyplot.subplots(figsize=(6.4, 2.8), layout="constrained")
    colours: dict[str, str] = {}
    for curve in plot.curves:
        subject = curve.label.split(",")[0] if "," in curve.label else curve.label
        colour = colours.setdefault(subject, f"C{len(colours)}")
        look = {"marker": "o", "linestyle": "none", "markersize": 2.5} if curve.style == "o" else {
            "linestyle": curve.style, "linewidth": 1.2}  # fmt: skip
        axes.plot(curve.x.round(4), curve.y.round(6), label=curve.label, color=colour, **look)
    if plot.log:
        axes.set_xscale("log")
        axes.set_yscale("log")
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    axes.legend(fontsize=7)
    PLOTS.mkdir(parents=True, exist_ok=True)
    figure.savefig(PLOTS / f"{plot.name}.svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    return f"![{plot.y_label} over {plot.x_label}](validation/{plot.name}.svg)"


def section(case: Case) -> str:
    """Return a case's section."""
    parts = [f"## {case.title}", case.setup, f"**Truth.** {case.truth}", table(case.checks)]
    parts.append(f"Differences are shares of {case.share_of}.")
    parts += [draw(plot) for plot in case.plots]
    if case.remarks:
        parts.append("\n".join(f"* {remark}" for remark in case.remarks))
    return "\n\n".join(parts)


def main() -> None:
    """Compute all cases, draw, write; exit with 1 where a bar does not hold."""
    warnings.simplefilter("error")
    if not (SHARED / "reference").is_dir():
        sys.exit(f"no reference lap at {SHARED}: set TRAILBRAKE_SHARED to the folder that has data/reference")
    cases = [*(make() for make in closed_forms()), reference_lap(SHARED.parent), independent_model(has_remarks=True)]
    summary = ["| case | figures | largest difference over its bar |", "|---|---|---|"]
    for case in cases:
        worst = max((check.difference / check.bar for check in case.checks if check.bar), default=0.0)
        summary.append(f"| {case.title} | {len(case.checks)} | {100.0 * worst:.0f} % |")
    for old in PLOTS.glob("*.svg"):
        old.unlink()
    write_section("validation", "\n".join(summary))
    write_details("validation", "\n\n".join([INTRO, *map(section, cases)]))
    failed = [f"{case.title}: {check.what}" for case in cases for check in case.checks if not check.holds]
    print(f"{sum(len(case.checks) for case in cases)} figures, {len(failed)} beyond their bar")
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
