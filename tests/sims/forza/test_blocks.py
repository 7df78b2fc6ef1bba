"""The declared fields: as many, as long and in such places as the protocol page says."""

from trailbrake.sims.forza.blocks import Dash, HorizonBlock, MotorsportBlock, Sled, block_fields, build_struct


def offset(block, name):
    names = list(block_fields(block))
    return build_struct(block).size - _size_from(block, names.index(name))


def _size_from(block, index):
    from struct import calcsize

    return calcsize("<" + "".join(w.code for w in list(block_fields(block).values())[index:]))


def test_sizes_and_counts_of_the_page():
    counts = {Sled: 58, Dash: 27, HorizonBlock: 3, MotorsportBlock: 5}
    assert {block: len(block._fields) for block in counts} == counts
    assert {block: build_struct(block).size for block in counts} == {
        Sled: 232,
        Dash: 79,
        HorizonBlock: 12,
        MotorsportBlock: 20,
    }
    assert build_struct(Sled).format == "<iI" + 27 * "f" + 4 * "i" + 20 * "f" + 5 * "i"
    assert build_struct(Dash).format.lstrip("<") == "f" * 17 + "HBBBBBBbbb"


def test_some_offsets_of_the_page():
    assert offset(Sled, "yaw") == 56
    assert offset(Sled, "wheel_on_rumble_strip_FL") == 116
    assert offset(Sled, "tire_combined_slip_RR") == 192
    assert offset(Sled, "car_ordinal") == 212
    assert offset(Dash, "cur_race_time") == 64
    assert offset(Dash, "lap_no") == 68
    assert offset(Dash, "steer") == 76
    assert offset(MotorsportBlock, "track_ordinal") == 16


def test_no_key_stands_twice_and_each_has_a_unit_and_an_official_name():
    keys = [key for block in (Sled, HorizonBlock, Dash, MotorsportBlock) for key in block_fields(block)]
    assert len(keys) == len(set(keys)) == 93
    for block in (Sled, HorizonBlock, Dash, MotorsportBlock):
        for key, wire in block_fields(block).items():
            assert wire.unit, key
            assert wire.official[0].isupper(), key
