"""Names of environments for Gymnasium, and how they are registered. Cheap: nothing else of the package is imported."""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

LINK, CAMERA = "trailbrake/Link-v0", "trailbrake/Trend96-v0"
NAMES = (
    "trailbrake/Race-v1", "trailbrake/Race-v0", "trailbrake/Lap-v0", "trailbrake/Scan-v0", "trailbrake/Scan1080-v0",
    "trailbrake/Random-v0", "trailbrake/Varied-v0", "trailbrake/Traffic-v0", LINK, CAMERA,
)  # fmt: skip


def register_names(gymnasium: ModuleType) -> None:
    """Register the names with Gymnasium; modules behind them are imported when an environment is made."""
    for name in NAMES:
        if name in gymnasium.registry:
            continue
        if name == CAMERA:
            module, makes = "camera_gym", ("CameraEnv", "CameraVectorEnv")
        else:
            module, makes = "gym", ("make_named", "make_named_vector")
        gymnasium.register(
            name, entry_point=f"trailbrake.env.{module}:{makes[0]}",
            vector_entry_point=None if name == LINK else f"trailbrake.env.{module}:{makes[1]}",
            kwargs={} if name == CAMERA else {"name": name},
        )  # fmt: skip


def register_when_imported() -> None:
    """Register the names now where Gymnasium is there, else once it is imported: `gymnasium.make` then knows them.

    Gymnasium 1.0 has given up the entry points by which it found packages.
    """
    gymnasium = sys.modules.get("gymnasium")
    if gymnasium is not None:
        register_names(gymnasium)
    elif "gymnasium" not in sys.modules:  # None there: it is kept from being imported
        sys.meta_path.insert(0, _GymnasiumFinder())


class _GymnasiumFinder(MetaPathFinder):
    """Finds Gymnasium as others do, once, and has it loaded by a loader that registers the names afterwards."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of Gymnasium; None for every other module."""
        if fullname != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _RegisteringLoader(spec.loader)
        return spec


class _RegisteringLoader(Loader):
    """Loads Gymnasium by its own loader, and registers the names."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return the module as its own loader makes it."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, and register the names."""
        self._loader.exec_module(module)
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        register_names(module)
