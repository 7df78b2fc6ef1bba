"""Whether a driver and a simulator go together."""

from trailbrake.drivers.loading.driver_registry import (
    declared_commands,
    declared_course_needs,
    declared_custom_values,
    declared_needs,
)
from trailbrake.driving.session.session_camera import camera_fields
from trailbrake.errors import UsageError
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.roles import Driver
from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator
from trailbrake.state.signals import is_signal_name


def check_driver_needs(
    driver: Driver, name: str, simulator: AnySimulator, live: object = None, camera: str = ""
) -> None:
    """Check that a drive supplies every field that a driver needs, and accepts every command that it may send.

    Args:
        driver: the driver.
        name: its name, for the error.
        simulator: whose wire.
        live: the simulator's live options, on which its fields may depend; None for the defaults.
        camera: the drive's `--camera`.

    Raises:
        UsageError: it does not; the error names the fields, and the simulators that supply them.
    """
    needs = {need for need in declared_needs(driver, name) if not is_signal_name(need)}
    fields = camera_fields(camera)
    supplied = simulator.supplies if live is None else simulator.list_supplied(live)
    missing = sorted(needs - supplied - fields)
    if missing and needs <= simulator.supplies | fields:
        raise UsageError(
            f"driver {name} needs what {simulator.name} does not supply with these options: {', '.join(missing)}",
            hint="a contract, for example, must list the signals of these fields",
        )
    if missing:
        able = [other.name for other in registry.list_simulators().simulators if needs <= other.supplies]
        raise UsageError(
            f"driver {name} needs what {simulator.name} does not supply: {', '.join(missing)}",
            hint="add --camera window:TITLE, or in the embedded world --camera world" if missing == ["image"]
            else f"these supply it: {', '.join(able)}" if able else "no simulator supplies all of it",
        )  # fmt: skip
    commands = declared_commands(driver, name) | ({"custom"} if declared_custom_values(driver, name) else set())
    refused = sorted(commands - simulator.accepts)
    if refused:
        able = [other.name for other in registry.list_simulators().simulators if commands <= other.accepts]
        raise UsageError(
            f"driver {name} sends what {simulator.name} does not accept: {', '.join(refused)}",
            hint=f"these accept it: {', '.join(able)}" if able else "no simulator accepts all of it",
        )


def check_course_needs(driver: Driver, name: str, simulator: AnySimulator, course: Course) -> None:
    """Check that the road and the car that a driver plans with are known.

    Args:
        driver: the driver.
        name: its name, for the error.
        simulator: whose wire.
        course: of the drive.

    Raises:
        UsageError: they are not; the error says what to do.
    """
    needs = declared_course_needs(driver, name)
    if "track" in needs and isinstance(course, UnmappedCourse):
        raise UsageError(f"{name} plans on a road, and {course.cause}", where="drive", hint=course.hint)
    if "car" in needs and course.car is None:
        raise UsageError(f"{name} plans with a model of the car, and {simulator.name} does not name its car",
                         where="drive", hint="name the nearest one by --car; `trailbrake cars` lists them")  # fmt: skip
