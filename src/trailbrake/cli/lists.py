"""`sims`, `drivers`, `tracks`, `cars`: what there is."""

from typing import Any

from trailbrake.cli.output import Json, print_json, print_table


def sims(*, json: Json = False) -> None:
    """List the simulators, with what each supplies and accepts."""
    from trailbrake.sims import registry

    rows: list[dict[str, Any]] = []
    for name in registry.names():
        spec = registry.part(name, "spec")
        rows.append(
            {"name": name, "title": spec.TITLE, "rate_hz": 1.0 / spec.period(spec.ServeOptions()),
             "supplies": sorted(spec.SUPPLIES), "accepts": sorted(spec.ACCEPTS)}
        )  # fmt: skip
    if json:
        print_json({"sims": rows})
    else:
        print_table(
            "Simulators",
            ["name", "title", "rate", "supplies", "accepts"],
            [[r["name"], r["title"], f"{r['rate_hz']:g} Hz", f"{len(r['supplies'])} fields", ", ".join(r["accepts"])]
             for r in rows],
        )  # fmt: skip


def drivers(*, json: Json = False) -> None:
    """List the drivers, with what each needs and which simulators supply it."""
    from trailbrake.drivers import load
    from trailbrake.sims import registry

    supplies = {name: registry.part(name, "spec").SUPPLIES for name in registry.names()}
    rows: list[dict[str, Any]] = []
    for name in load.names():
        cls = load.driver_class(name)
        text = " ".join((cls.__doc__ or "").split("\n\n")[0].split())
        rows.append(
            {"name": name, "about": text, "needs": sorted(cls.NEEDS),
             "sims": [sim for sim, have in supplies.items() if have >= cls.NEEDS]}
        )  # fmt: skip
    if json:
        print_json({"drivers": rows})
    else:
        print_table(
            "Drivers (or FILE.py of your own, or policy:FILE.npz of trailbrake train)",
            ["name", "about", "needs", "runs on"],
            [[r["name"], r["about"], ", ".join(r["needs"]), ", ".join(r["sims"])] for r in rows],
        )


def tracks(*, json: Json = False) -> None:
    """List the tracks, with length, width and tightest radius.

    Beside these: a CSV or TOML file, gen:SEED for a random circuit, and any of them with @wet behind it.
    """
    import numpy as np

    from trailbrake.tracks import load
    from trailbrake.tracks.road import Column

    rows: list[dict[str, Any]] = []
    for name in load.names():
        track = load.load(name)
        road = track.road
        width = road.column(Column.WIDTH_LEFT) + road.column(Column.WIDTH_RIGHT)
        height = road.column(Column.Z)
        rows.append(
            {"name": name, "title": track.title, "about": track.source, "world": "car", "closed": road.closed,
             "length_m": road.length, "width_m": [float(width.min()), float(width.max())],
             "min_radius_m": float(1.0 / max(np.abs(road.column(Column.CURVATURE)).max(), 1e-6)),
             "climb_m": float(height.max() - height.min())}
        )  # fmt: skip
    small = _miniature_tracks()
    if json:
        print_json({"tracks": rows + small})
    else:
        print_table(
            "Tracks (or a CSV or TOML file of your own, or gen:SEED for a random circuit; NAME@wet in the wet)",
            ["name", "title", "length", "width", "tightest", "climb", ""],
            [[r["name"], r["title"], f"{r['length_m']:.0f} m", f"{r['width_m'][0]:.0f}-{r['width_m'][1]:.0f} m",
              f"{r['min_radius_m']:.0f} m" if r["min_radius_m"] < 9e5 else "straight", f"{r['climb_m']:.0f} m",
              "circuit" if r["closed"] else "open road"] for r in rows],
        )  # fmt: skip
        print_table(
            "Miniature tracks, for camera drivers (--sim trend; or a TOML file of your own, or gen:SEED)",
            ["name", "title", "length", "width", "tightest", "forks", ""],
            [[r["name"], r["title"], f"{r['length_m']:.0f} m", f"{r['width_m'][0]:.2f} m", f"{r['min_radius_m']:.1f} m",
              str(r["forks"]), r["about"]] for r in small],
        )  # fmt: skip


def _miniature_tracks() -> list[dict[str, Any]]:
    import numpy as np

    from trailbrake.tracks.miniature import load
    from trailbrake.tracks.miniature.layout import HALF_WIDTH

    rows: list[dict[str, Any]] = []
    for name in load.names():
        track = load.load(name)
        rows.append(
            {"name": name, "title": track.title, "about": track.source, "world": "miniature", "closed": True,
             "length_m": track.length, "width_m": [4.0 * HALF_WIDTH] * 2,
             "min_radius_m": float(1.0 / np.abs(track.main.pieces[:, 4]).max()), "climb_m": 0.0,
             "forks": len(track.forks)}
        )  # fmt: skip
    return rows


def cars(*, json: Json = False) -> None:
    """List the cars, with mass, power, drive and equipment."""
    from trailbrake.cars import load

    rows: list[dict[str, Any]] = []
    for name in load.names():
        car = load.load(name)
        there = {
            "turbo": car.engine.turbo_lag > 0.0, "hybrid": car.hybrid is not None, "DRS": car.aero.has_drs,
            "ABS": car.brakes.abs, "TC": car.brakes.tc,
        }  # fmt: skip
        rows.append(
            {"name": name, "title": car.title, "mass_kg": car.body.mass, "power_w": car.engine.peak_power,
             "hybrid_power_w": car.hybrid.power if car.hybrid else 0.0, "drive": car.drive.layout,
             "gears": car.gearbox.top_gear, "front_weight_share": car.body.front_share,
             "equipment": [word for word, has in there.items() if has]}
        )  # fmt: skip
    if json:
        print_json({"cars": rows})
    else:
        print_table(
            "Cars (or a TOML file of your own)",
            ["name", "title", "mass", "power", "in front", "drive", "gears", "equipment"],
            [[r["name"], r["title"], f"{r['mass_kg']:.0f} kg", _power(r), f"{100.0 * r['front_weight_share']:.0f} %",
              r["drive"], str(r["gears"]), ", ".join(r["equipment"])] for r in rows],
        )  # fmt: skip


def _power(row: dict[str, Any]) -> str:
    """Return the power of a row of `cars`, as in "735 + 120 kW"."""
    motor = f" + {row['hybrid_power_w'] / 1000:.0f}" if row["hybrid_power_w"] else ""
    return f"{row['power_w'] / 1000:.0f}{motor} kW"
