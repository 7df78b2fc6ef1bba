"""Drivers as FMUs: exported for tools that speak FMI 3.0 co-simulation (Simulink, OpenModelica, Dymola, FMPy).

Inputs are the columns of the state that the driver needs (`state.speed`), outputs the columns of its controls
(`controls.steer`), named and with units and frames as in `docs/state.md`; NaN leaves a control alone. The numbers that
its constructor takes are parameters (`driver.speed`), and so are `track` and `car`. One step answers the state of its
beginning. The way back, an FMU as a driver: `drivers/fmu.py`.

The FMU holds Python code and runs it in the interpreter that loads it, which must have trailbrake installed.
"""

import inspect
import math
import tempfile
from pathlib import Path
from typing import Any

from trailbrake.cars.load import load as load_car
from trailbrake.drivers.load import load as load_driver
from trailbrake.drivers.load import needs_of
from trailbrake.errors import UsageError
from trailbrake.planning.course import Course
from trailbrake.state import Controls
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, Column, controls_row, state_from_row
from trailbrake.tracks.load import load as load_track

_CLOCK = ("time", "sequence", "age", "phase")  # known to whoever steps us
_NOT_COLUMNS = ("others", "image")
_STEP = 0.005  # s, the step that the FMU suggests: BeamNG's default


class DriverModel:
    """A driver as a block with named inputs, outputs and parameters.

    Args:
        driver: what `--driver` takes.
        track: what `--track` takes.
        car: what `--car` takes.

    Attributes:
        columns: the inputs.
        inputs: {name: value} of the next step; 0 until set, since an FMU's file can hold no NaN.
        outputs: {name: value} of the last step, NaN where the driver leaves something alone.
        parameters: {name: value}, numbers that the driver's constructor takes.
        places: {"track": ..., "car": ...}.
        time: s, of the last step.

    Raises:
        UsageError: no such driver; or it needs what is no number (camera images, other cars).
    """

    def __init__(self, driver: str, track: str, car: str) -> None:
        subject = load_driver(driver)
        needs = needs_of(subject, driver)
        odd = sorted(needs & set(_NOT_COLUMNS))
        if odd:
            raise UsageError("an FMU's inputs are numbers", where=driver, got=", ".join(odd))
        self._make = type(subject)
        self.about = " ".join((type(subject).__doc__ or "").split("\n\n")[0].split())
        self.columns: list[Column] = [column for column in STATE_COLUMNS if _field(column) in needs - set(_CLOCK)]
        self.inputs = {column.name: 0.0 for column in self.columns}
        self.outputs = dict(zip((column.name for column in CONTROL_COLUMNS), controls_row(Controls()), strict=True))
        self.parameters: dict[str, float] = {
            name: float(parameter.default)
            for name, parameter in inspect.signature(type(subject)).parameters.items()
            if isinstance(parameter.default, float)
        }
        self.places = {"track": track, "car": car}
        self.time = 0.0

    def begin(self) -> None:
        """Make the driver with the parameters as they are now, and let it plan."""
        self._driver = self._make(**self.parameters)
        self._driver.reset(Course(load_track(self.places["track"]), load_car(self.places["car"])))
        self._last = math.nan
        self._steps = 0

    def step(self, time: float) -> None:
        """Answer the inputs, which are those of `time` (s)."""
        given = {**self.inputs, "time": time, "sequence": float(self._steps), "age": 0.0, "phase": 0.0}
        state = state_from_row([given.get(column.name, math.nan) for column in STATE_COLUMNS])
        dt = time - self._last
        answer = self._driver.act(state, dt if dt > 0.0 else 0.0)  # NaN on the first step
        self._last = self.time = time
        self._steps += 1
        self.outputs = dict(zip(self.outputs, controls_row(answer), strict=True))


def _field(column: Column) -> str:
    """Return the name by which NEEDS calls a column."""
    return f"wheels.{column.path.split('.')[1]}" if column.path.startswith("wheels[") else column.name


class DriverSlave:
    """The part of an exported FMU that is ours; the other part is PythonFMU3's `Fmi3Slave`.

    The script inside the FMU sets DRIVER, TRACK and CAR; names of files are those of copies beside it.
    """

    DRIVER = TRACK = CAR = ""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        from pythonfmu3 import DefaultExperiment, Float64, Fmi3Causality, Fmi3Initial, Fmi3Variability, String

        folder = Path(kwargs["resources"])
        self.model = model = DriverModel(*(_beside(folder, spec) for spec in (self.DRIVER, self.TRACK, self.CAR)))
        model.places = {"track": self.TRACK, "car": self.CAR}
        self._folder = folder
        self.author, self.description = "trailbrake", model.about
        self.default_experiment = DefaultExperiment(start_time=0.0, step_size=_STEP)
        register = self.register_variable  # type: ignore[attr-defined]
        register(Float64("time", causality=Fmi3Causality.independent, variability=Fmi3Variability.continuous,
                         description="s: simulator time", getter=lambda: model.time), nested=False)  # fmt: skip
        for column in model.columns:
            register(Float64(
                f"state.{column.name}", causality=Fmi3Causality.input, description=_about(column),
                variability=Fmi3Variability.discrete, **_access(model.inputs, column.name),
            ), nested=False)  # fmt: skip
        for column in CONTROL_COLUMNS:
            register(Float64(
                f"controls.{column.name}", causality=Fmi3Causality.output, description=_about(column),
                variability=Fmi3Variability.discrete, initial=Fmi3Initial.calculated,
                getter=lambda name=column.name: model.outputs[name],
            ), nested=False)  # fmt: skip
        fixed = {"causality": Fmi3Causality.parameter, "variability": Fmi3Variability.fixed}
        for name in model.parameters:
            register(Float64(f"driver.{name}", description="of the driver", **fixed,
                             **_access(model.parameters, name)), nested=False)  # fmt: skip
        for name in model.places:
            register(String(name, description=f"what --{name} takes", **fixed, **_access(model.places, name)),
                     nested=False)  # fmt: skip

    def exit_initialization_mode(self) -> None:
        """Plan with the parameters as they are now."""
        places = self.model.places
        self.model.places = {name: _beside(self._folder, spec) for name, spec in places.items()}
        self.model.begin()

    def do_step(self, current_time: float, step_size: float) -> Any:
        """Answer the inputs."""
        from pythonfmu3 import Fmi3StepResult

        self.model.step(current_time)
        return Fmi3StepResult()


def _about(column: Column) -> str:
    unit = f"{column.quantity.unit}: " if column.quantity.unit != "1" else ""
    return f"{unit}{column.quantity.meaning}"


def _access(values: dict[str, Any], name: str) -> dict[str, Any]:
    return {"getter": lambda: values[name], "setter": lambda value: values.__setitem__(name, value)}


def _beside(folder: Path, spec: str) -> str:
    """Return `spec` as the path of the copy in `folder` where there is one; FILE.py:Class too."""
    file, _, cls = spec.partition(":")
    if not (folder / file).is_file():
        return spec
    return str(folder / file) + (f":{cls}" if cls else "")


def export_fmu(driver: str, out: Path, track: str, car: str) -> Path:
    """Write a driver as a co-simulation FMU (FMI 3.0, for Linux and Windows) and return where.

    Args:
        driver: what `--driver` takes; a file of the user's own goes into the FMU.
        out: the file to write, or a folder.
        track: what `--track` takes; can be changed in the FMU. Files go into it.
        car: what `--car` takes; as `track`.

    Raises:
        UsageError: PythonFMU3 is missing, or there is no such driver, track or car.
        TrailbrakeError: one of them cannot be used.
    """
    try:
        from pythonfmu3 import FmuBuilder
    except ImportError as error:
        raise UsageError("exporting FMUs needs PythonFMU3", where="export-fmu",
                         hint='pip install "trailbrake[fmi]"') from error  # fmt: skip
    DriverModel(driver, track, car).begin()  # says in one line what is wrong, before the builder does in many
    packed = [_packed(spec) for spec in (driver, track, car)]
    inside = dict(zip(("DRIVER", "TRACK", "CAR"), (name for name, _ in packed), strict=True))
    name = _identifier(driver)
    target = out / f"{name}.fmu" if out.is_dir() or not out.suffix else out
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / f"fmu_{name}.py"
        script.write_text(_script(name, inside), encoding="utf-8")
        built = FmuBuilder.build_FMU(
            script, dest=Path(folder) / "built", project_files=[file for _, file in packed if file]
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(Path(built).read_bytes())
    return target


def _packed(spec: str) -> tuple[str, Path | None]:
    """Return how `spec` is called inside the FMU, and the file that has to go along."""
    file, colon, cls = spec.rpartition(":") if ".py:" in spec else (spec, "", "")
    return (Path(file).name + colon + cls, Path(file)) if Path(file).is_file() else (spec, None)


def _identifier(driver: str) -> str:
    """Return a name that C and Python take: the driver's, or its file's."""
    stem = Path(driver.partition(".py")[0]).name
    name = "".join(letter if letter.isascii() and (letter.isalnum() or letter == "_") else "_" for letter in stem)
    return name if name[:1].isalpha() else f"driver_{name}"


def _script(name: str, inside: dict[str, str]) -> str:
    fields = "\n".join(f"    {key} = {value!r}" for key, value in inside.items())
    return (
        "from pythonfmu3 import Fmi3Slave\n\nfrom trailbrake.run.fmi import DriverSlave\n\n\n"
        f"class {name}(DriverSlave, Fmi3Slave):\n{fields}\n"
    )
