import importlib.util
import sys
from types import ModuleType

import gymnasium

from trailbrake.env import registration
from trailbrake.env.catalogue import ENVIRONMENTS
from trailbrake.env.registration import CAMERA, LINK, NAMES, register_names


def test_every_environment_has_its_name():
    assert set(NAMES) == {*ENVIRONMENTS, CAMERA}
    assert [name for name, entry in ENVIRONMENTS.items() if entry.link] == [LINK]
    assert set(NAMES) <= set(gymnasium.registry)


def test_names_that_are_there_are_left_alone():
    module = ModuleType("stand-in")
    registered = []
    module.registry, module.register = {NAMES[0]}, lambda name, **how: registered.append(name)
    register_names(module)
    assert registered == list(NAMES[1:])


def test_gymnasium_is_loaded_by_its_own_loader(monkeypatch):
    monkeypatch.delitem(sys.modules, "gymnasium")
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    registration.register_when_imported()
    assert isinstance(sys.meta_path[0], registration._GymnasiumFinder)
    spec = importlib.util.find_spec("gymnasium")
    assert not any(isinstance(finder, registration._GymnasiumFinder) for finder in sys.meta_path)
    assert isinstance(spec.loader, registration._RegisteringLoader)
    assert importlib.util.find_spec("gymnasium").loader.__class__ is not registration._RegisteringLoader
