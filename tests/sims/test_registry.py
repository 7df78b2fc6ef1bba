from pathlib import Path

import pytest

import trailbrake.sims
from trailbrake.errors import UsageError
from trailbrake.sims import registry


def test_a_simulator_is_a_folder_with_a_spec():
    folder = Path(trailbrake.sims.__file__).parent
    assert registry.names() == sorted(p.name for p in folder.iterdir() if (p / "spec.py").is_file())
    assert "assetto" in registry.names()


def test_parts_are_the_folder_s_modules():
    assert registry.part("assetto", "spec").__name__ == "trailbrake.sims.assetto.spec"
    assert registry.part("assetto", "link").Link.__name__ == "Link"


@pytest.mark.parametrize("name", ["asetto", "", "registry", "../assetto"])
def test_another_name_is_one_line_with_what_there_is(name):
    with pytest.raises(UsageError, match="no such simulator") as caught:
        registry.part(name, "spec")
    assert "assetto" in str(caught.value)
    assert "\n" not in str(caught.value)
