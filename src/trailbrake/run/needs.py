"""Whether a driver and a simulator go together."""

from trailbrake.drivers.load import needs_of
from trailbrake.errors import UsageError
from trailbrake.roles import Driver
from trailbrake.sims import registry


def check_needs(driver: Driver, name: str, sim: str) -> None:
    """Raise UsageError where `sim` does not supply what the driver needs, naming the fields and who supplies them."""
    needs = needs_of(driver, name)
    missing = sorted(needs - registry.part(sim, "spec").SUPPLIES)
    if missing:
        able = [s for s in registry.names() if needs <= registry.part(s, "spec").SUPPLIES]
        raise UsageError(
            f"driver {name} needs what {sim} does not supply: {', '.join(missing)}",
            hint=f"these supply it: {', '.join(able)}" if able else "no simulator supplies all of it",
        )
