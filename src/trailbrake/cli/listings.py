"""`sims`, `drivers`, `tracks`, `cars`: what there is."""

from typing import Any

from trailbrake.cli.output import JsonFlag, print_json, print_table, wrap_text


def sims(*names: str, json: JsonFlag = False) -> None:
    """List the simulators, with what each supplies and accepts.

    Args:
        names: only these.
        json: print one JSON object on stdout.
    """
    from trailbrake.cli.flag_names import choose_simulators
    from trailbrake.sims import registry

    rows: list[dict[str, Any]] = []
    for simulator in [registry.find(name) for name in names] or choose_simulators(""):
        period = simulator.period(simulator.serve_options())
        rows.append(
            {"name": simulator.name, "title": simulator.title, "rate_hz": 1.0 / period,
             "supplies": sorted(simulator.supplies), "accepts": sorted(simulator.accepts)}
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


def drivers(*, json: JsonFlag = False) -> None:
    """List the drivers, with what each needs and which simulators supply it."""
    from trailbrake.cli.flag_names import choose_simulators
    from trailbrake.drivers.loading import driver_registry

    supplies = {simulator.name: simulator.supplies for simulator in choose_simulators("")}
    rows: list[dict[str, Any]] = []
    for name in driver_registry.driver_names():
        cls = driver_registry.builtin_driver_class(name)
        text = " ".join((cls.__doc__ or "").split("\n\n")[0].split())
        rows.append(
            {"name": name, "about": text, "needs": sorted(cls.NEEDS),
             "gains": _describe_gains(cls),
             "course_needs": sorted(driver_registry.declared_course_needs(cls, name)),
             "sims": [sim for sim, have in supplies.items() if have >= cls.NEEDS]}
        )  # fmt: skip
    if json:
        print_json({"drivers": rows})
    else:
        print_table(
            "Drivers (or FILE.py, policy:FILE.npz, or policy:any for a car without a file)",
            ["name", "about", "needs", "runs on"],
            [[r["name"], r["about"], ", ".join([*(f"a {part}" for part in r["course_needs"]), *r["needs"]]),
              ", ".join(r["sims"])] for r in rows],
        )  # fmt: skip


def _describe_gains(cls: Any) -> dict[str, Any]:
    """Return {gain: unit, meaning, range and default} of a driver's class."""
    from dataclasses import asdict

    from trailbrake.roles import Tunable
    from trailbrake.state.fields import declared_quantities

    if not isinstance(cls, Tunable):
        return {}
    defaults = asdict(cls.Gains())
    return {
        name: {"unit": q.unit, "meaning": q.meaning, "lo": q.lo, "hi": q.hi, "default": defaults[name]}
        for name, q in declared_quantities(cls.Gains).items()
    }


def tracks(*names: str, json: JsonFlag = False) -> None:
    """List the tracks, with length, width and tightest radius.

    Beside these: a CSV, TOML, GPX or KML file, gen:SEED for a random circuit, and any of them with @wet behind it.

    Args:
        names: only these, with what is known of them; files too.
        json: print one JSON object on stdout.
    """
    import numpy as np

    from trailbrake.tracks import track_library
    from trailbrake.tracks.road import RoadColumn

    rows: list[dict[str, Any]] = []
    for name in names or track_library.track_names():
        track = track_library.load_track(name)
        road = track.road
        width = road.column(RoadColumn.WIDTH_LEFT) + road.column(RoadColumn.WIDTH_RIGHT)
        height = road.column(RoadColumn.Z)
        rows.append(
            {"name": name, "title": track.title, "about": track.source, "world": "car", "closed": road.closed,
             "length_m": road.length, "width_m": [float(width.min()), float(width.max())],
             "min_radius_m": float(1.0 / max(np.abs(road.column(RoadColumn.CURVATURE)).max(), 1e-6)),
             "climb_m": float(height.max() - height.min())}
        )  # fmt: skip
    small = [] if names else _miniature_tracks()
    if json:
        print_json({"tracks": rows + small})
    else:
        print_table(
            "Tracks (or a CSV, TOML, GPX or KML file, or gen:SEED for a random circuit; NAME@wet in the wet)",
            ["name", "title", "length", "width", "tightest", "climb", ""],
            [[r["name"], r["title"], f"{r['length_m']:.0f} m", _format_width(*r["width_m"]),
              f"{r['min_radius_m']:.0f} m" if r["min_radius_m"] < 9e5 else "straight", f"{r['climb_m']:.0f} m",
              "circuit" if r["closed"] else "open road"] for r in rows],
        )  # fmt: skip
        for row in rows if names else ():
            print(wrap_text(f"{row['name']}: {row['about']}"))
        if names:
            return
        print_table(
            "Miniature tracks, for camera drivers (--sim trend; or a TOML file of your own, or gen:SEED)",
            ["name", "title", "length", "width", "tightest", "forks", ""],
            [[r["name"], r["title"], f"{r['length_m']:.0f} m", f"{r['width_m'][0]:.2f} m", f"{r['min_radius_m']:.1f} m",
              str(r["forks"]), r["about"]] for r in small],
        )  # fmt: skip


def _format_width(least: float, most: float) -> str:
    return f"{least:.1f} m" if most - least < 1.0 else f"{least:.1f}-{most:.1f} m"


def _miniature_tracks() -> list[dict[str, Any]]:
    import numpy as np

    from trailbrake.world.miniature import track_library
    from trailbrake.world.miniature.layout import HALF_WIDTH

    rows: list[dict[str, Any]] = []
    for name in track_library.miniature_track_names():
        track = track_library.load_miniature_track(name)
        rows.append(
            {"name": name, "title": track.title, "about": track.source, "world": "miniature", "closed": True,
             "length_m": track.length, "width_m": [4.0 * HALF_WIDTH] * 2,
             "min_radius_m": float(1.0 / np.abs(track.road_path.pieces[:, 4]).max()), "climb_m": 0.0,
             "forks": len(track.forks)}
        )  # fmt: skip
    return rows


def cars(*names: str, json: JsonFlag = False) -> None:
    """List the cars, with mass, power, drive and equipment.

    Beside these: a TOML file, random:SEED for a random car, and random:SEED:CAR for a random one like CAR.

    Args:
        names: only these; files too.
        json: print one JSON object on stdout.
    """
    from trailbrake.cars import car_library

    rows: list[dict[str, Any]] = []
    for name in names or car_library.car_names():
        car = car_library.load_car(name)
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
            "Cars (or a TOML file of your own, or random:SEED for a random car, or random:SEED:CAR for one like CAR)",
            ["name", "title", "mass", "power", "in front", "drive", "gears", "equipment"],
            [[r["name"], r["title"], f"{r['mass_kg']:.0f} kg", _format_power(r),
              f"{100.0 * r['front_weight_share']:.0f} %", r["drive"], str(r["gears"]),
              ", ".join(r["equipment"])] for r in rows],
        )  # fmt: skip


def _format_power(row: dict[str, Any]) -> str:
    """Return the power of a row of `cars`, as in "735 + 120 kW"."""
    motor = f" + {row['hybrid_power_w'] / 1000:.0f}" if row["hybrid_power_w"] else ""
    return f"{row['power_w'] / 1000:.0f}{motor} kW"
