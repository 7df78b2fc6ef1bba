"""The Simulator: parts that are imported late, defaults, and one line for a part that cannot be used."""

from dataclasses import replace

import pytest

from trailbrake.errors import DataError
from trailbrake.roles import Link
from trailbrake.sims.registry import find
from trailbrake.simulator import Deferred, Tools, load_part, missing_members, part_place
from trailbrake.simulator_tools import TOOL_TYPES


def test_a_deferred_part_is_imported_when_it_is_loaded():
    part = Deferred("collections:OrderedDict")
    assert load_part(part).__name__ == "OrderedDict"
    assert load_part(dict) is dict
    assert (part_place(part), repr(part)) == ("collections:OrderedDict", "Deferred('collections:OrderedDict')")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("collections:OrderDict", "collections:OrderDict: the module has no such part, got OrderDict"),
        ("no_such_module:Link", "no_such_module:Link: raised ModuleNotFoundError on import: No module named"),
    ],
)
def test_a_part_that_cannot_be_imported_is_one_line(path, said):
    broken = replace(find("trend"), link=Deferred(path))
    with pytest.raises(DataError) as caught:
        broken.make_link(broken.live_options())
    assert str(caught.value).startswith(said)


def test_a_part_of_another_signature_is_one_line():
    broken = replace(find("trend"), link=lambda options: None, host=lambda plant: None)
    with pytest.raises(DataError, match=r"test_simulator\.py:.*, link: wrong arguments: .*expected Link\(options"):
        broken.make_link(broken.live_options())
    with pytest.raises(DataError, match=r"test_simulator\.py:.*, host: wrong arguments: .*expected Host\(plant"):
        broken.make_host(None, broken.serve_options())


def test_a_part_without_all_members_is_one_line():
    broken = replace(find("trend"), link=lambda options, **named: object())
    with pytest.raises(DataError, match=r"the link lacks ACCEPTS, SUPPLIES, close, counters, .*roles\.Link has"):
        broken.make_link(broken.live_options())


def test_a_type_error_inside_of_a_part_is_not_its_signature_s():
    def link(options, **named):
        return 1 + None

    with pytest.raises(TypeError, match="unsupported operand"):
        replace(find("trend"), link=link).make_link(None)


def test_every_tool_has_a_type():
    assert list(Tools.__annotations__) == list(TOOL_TYPES)


def test_what_a_link_lacks():
    assert missing_members(find("trend").make_link(find("trend").live_options()), Link) == []
