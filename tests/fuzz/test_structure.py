"""Mutations that know a format: they repeat for a seed, and leave what they do not change readable."""

import io
import json
import random
import sqlite3
import tomllib
import zipfile

import pytest

from fuzz.structure import (
    apply_mutator,
    mutate_json,
    mutate_pieces,
    mutate_records,
    mutate_sqlite,
    mutate_text,
    mutate_words,
    mutate_zip,
)
from fuzz.targets import TARGETS


def read_seed(target, name):
    return TARGETS[target].read_seeds()[name]


def mutate_often(mutator, data, count=40):
    return [mutator(data, random.Random(seed)) for seed in range(count)]


@pytest.mark.parametrize("target", [target for target in TARGETS.values() if target.mutator], ids=lambda t: t.name)
def test_every_mutator_changes_the_seeds_of_its_target_and_repeats(target):
    for name, seed in target.read_seeds().items():
        cases = [apply_mutator(target.mutator, seed, random.Random(k)) for k in range(6)]
        assert cases == [apply_mutator(target.mutator, seed, random.Random(k)) for k in range(6)], name
        assert any(case != seed for case in cases), name


def is_toml(text):
    try:
        tomllib.loads(text.decode())
    except ValueError:
        return False
    return True


def test_a_text_mostly_keeps_its_syntax():
    assert sum(map(is_toml, mutate_often(mutate_text, read_seed("track_toml", "hill"), 200))) > 80


def test_json_stays_json():
    for case in mutate_often(mutate_json, b'{"a": [1, {"b": "x"}], "c": null}'):
        json.loads(case)


def test_pieces_and_records_keep_their_lengths():
    for case in mutate_often(mutate_pieces, b"\x04\x00abcd\x08\x0012345678"):
        at = 0
        while at < len(case):
            at += 2 + int.from_bytes(case[at : at + 2], "little")
        assert at == len(case)
    record = b"\x05" + (4).to_bytes(8, "little") + b"abcd"
    for case in mutate_often(mutate_records, record * 2):
        at = 0
        while at < len(case):
            at += 9 + int.from_bytes(case[at + 1 : at + 9], "little")
        assert at == len(case)


def test_an_archive_stays_one_with_right_checksums():
    for case in mutate_often(mutate_zip, read_seed("policy_file", "two_layers")):
        assert zipfile.ZipFile(io.BytesIO(case)).testzip() is None


def test_a_database_stays_one():
    seed = read_seed("results_sqlite", "one_day")
    changed = 0
    for k in range(20):
        try:
            case = mutate_sqlite(seed, random.Random(k))
        except (sqlite3.Error, LookupError):
            continue
        connection = sqlite3.connect(":memory:")
        connection.deserialize(case)
        assert connection.execute("PRAGMA integrity_check").fetchone()[0]
        connection.close()
        changed += case != seed
    assert changed > 10


def test_what_a_mutator_cannot_read_is_changed_by_words():
    data = bytes(range(16))
    assert any(apply_mutator(mutate_json, data, random.Random(k)) != data for k in range(6))
    for case in mutate_often(mutate_words, b""):
        assert len(case) <= 4 * 8
