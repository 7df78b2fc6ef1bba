"""`setup assetto` on made-up installations."""

import stat

import pytest
from helpers.assetto.installs import BEHAVIOUR, SURFACES, game, put, tree

from trailbrake.errors import DataError, UsageError
from trailbrake.sims.assetto.install import ini, surfaces
from trailbrake.sims.assetto.setup import SetupOptions, run

CONFIG = "extension/config/new_behaviour.ini"
IMOLA = "content/tracks/imola/data/surfaces.ini"


@pytest.fixture(autouse=True)
def no_documents(monkeypatch):
    monkeypatch.setattr("trailbrake.sims.assetto.install.installation._documents_folder", lambda game, home: None)


@pytest.mark.parametrize("name", ["assettocorsa", "Игры/Assetto Corsa", "赛车 游戏"])
def test_on_and_off_again_byte_for_byte(tmp_path, name):
    root = game(tmp_path / name)
    before = tree(root)
    said = list(run(SetupOptions(root, ("imola",))))
    after = tree(root)
    assert after[CONFIG] == BEHAVIOUR.replace(b"ENABLED=0", b"ENABLED=1")  # BOM, CRLF and comments kept
    assert after[IMOLA] == SURFACES + b"\r\n[_EXTRA_PERMISSIONS]\r\nALLOW_CUSTOM_AI_MANIPULATION=1\r\n"
    assert {k for k in after if after[k] != before.get(k)} == {
        CONFIG, IMOLA, f"{CONFIG}.trailbrake-backup", f"{IMOLA}.trailbrake-backup",
    }  # fmt: skip
    assert said[0] == f"Assetto Corsa in {root}"
    assert any(line.startswith("Custom AI permitted on imola: changed ") for line in said)
    assert said[-1].startswith("Start the session anew")
    list(run(SetupOptions(root, ("imola",))))
    assert tree(root) == after
    list(run(SetupOptions(root, undo=True)))  # finds the tracks by their backups
    assert tree(root) == before


def test_extended_physics_is_taken_back_without_saying_so_again(tmp_path):
    root = game(tmp_path)
    before = tree(root)
    list(run(SetupOptions(root, ("imola",), extended_physics=True)))
    assert surfaces.decode_surfaces((root / IMOLA).read_bytes()).extended
    list(run(SetupOptions(root, undo=True)))
    assert tree(root) == before


def test_a_dry_run_prints_the_diff_and_changes_nothing(tmp_path):
    root = game(tmp_path)
    before = tree(root)
    said = "\n".join(run(SetupOptions(root, ("imola",), dry_run=True)))
    assert tree(root) == before
    assert "-ENABLED=0 ; Let in ; boolean" in said
    assert "+ENABLED=1 ; Let in ; boolean" in said
    assert "+ALLOW_CUSTOM_AI_MANIPULATION=1" in said


def test_the_patch_s_other_options_make_the_game_quicker(tmp_path):
    """[CUSTOM_AI] of the patch's own file: ENABLED, DISABLE_AUDIO, DISABLE_PYTHON_APPS, DISABLE_TEXTURES."""
    root = game(tmp_path)
    before = tree(root)
    said = "\n".join(run(SetupOptions(root, set=("DISABLE_AUDIO=1", " disable_textures = 1"))))
    section = ini.parse_ini((root / CONFIG).read_bytes())["CUSTOM_AI"]
    assert (section["ENABLED"], section["DISABLE_AUDIO"], section["DISABLE_TEXTURES"]) == ("1", "1", "1")
    assert "DISABLE_PYTHON_APPS" not in section
    assert "Custom AI on, DISABLE_AUDIO=1, DISABLE_TEXTURES=1: changed " in said
    list(run(SetupOptions(root, set=("DISABLE_AUDIO=0",))))  # the copy for the undo is still the first one
    list(run(SetupOptions(root, undo=True)))
    assert tree(root) == before


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("DISABLE_AUDI=1", "--set: Custom AI has no such setting, got DISABLE_AUDI; did you mean DISABLE_AUDIO"),
        ("DISABLE_AUDIO", "no setting, expected KEY=VALUE"),
        ("DISABLE_AUDIO=1;x", "no setting"),
        ("DISABLE_AUDIO=", "no setting"),
        ("ENABLED=0", "no such setting"),
    ],
)
def test_a_setting_that_the_patch_has_not_is_refused(tmp_path, text, line):
    root = game(tmp_path)
    before = tree(root)
    with pytest.raises(UsageError, match=line):
        list(run(SetupOptions(root, set=(text,))))
    assert tree(root) == before


def test_all_layouts_or_one(tmp_path):
    root = game(tmp_path)
    list(run(SetupOptions(root, ("nur/gp",))))
    files = {n: (root / f"content/tracks/nur/{n}/data/surfaces.ini").read_bytes() for n in ("gp", "sprint")}
    permitted = {n: surfaces.decode_surfaces(data).allows_custom_ai for n, data in files.items()}
    assert permitted == {"gp": True, "sprint": False}
    said = list(run(SetupOptions(root, ("nur",))))
    assert any(line.startswith("Custom AI permitted on nur/gp: is so already") for line in said)
    assert any(line.startswith("Custom AI permitted on nur/sprint: changed") for line in said)


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (None, b"[CUSTOM_AI]\r\nENABLED=1\r\n"),
        (b"[BASIC]\nENABLED=0\n", b"[BASIC]\nENABLED=1\n\n[CUSTOM_AI]\nENABLED=1\n"),
        (b"[CUSTOM_AI]\n", b"[CUSTOM_AI]\nENABLED=1\n"),
        (b"[CUSTOM_AI]\nENABLED=1\n", b"[CUSTOM_AI]\nENABLED=1\n"),
    ],
)
def test_files_of_other_versions(tmp_path, behaviour, expected):
    root = game(tmp_path, behaviour=behaviour)
    before = tree(root)
    said = list(run(SetupOptions(root)))
    assert (root / CONFIG).read_bytes() == expected
    assert any("No track named" in line for line in said)
    list(run(SetupOptions(root, undo=True)))
    assert tree(root) == before


def test_the_user_s_own_settings_win_and_are_what_is_changed(tmp_path, monkeypatch):
    root, documents = game(tmp_path / "game"), tmp_path / "Документы" / "Assetto Corsa"
    monkeypatch.setattr("trailbrake.sims.assetto.install.installation._documents_folder", lambda game, home: documents)
    own = documents / "cfg" / "extension" / "new_behaviour.ini"
    list(run(SetupOptions(root)))
    assert own.read_bytes() == b"[CUSTOM_AI]\r\nENABLED=1\r\n"
    assert (root / CONFIG).read_bytes() == BEHAVIOUR
    list(run(SetupOptions(root, undo=True)))
    assert not own.exists()
    put(own, b"[BASIC]\nENABLED=0\n")
    list(run(SetupOptions(root)))
    assert ini.parse_ini(own.read_bytes())["BASIC"]["ENABLED"] == "1"
    list(run(SetupOptions(root, undo=True)))
    assert own.read_bytes() == b"[BASIC]\nENABLED=0\n"


def test_a_read_only_file_loses_nothing(tmp_path):
    root = game(tmp_path)
    (root / IMOLA).chmod(stat.S_IRUSR)
    before = tree(root)
    with pytest.raises(DataError, match=r"surfaces.ini: the file is read-only; allow writing to it and try again"):
        list(run(SetupOptions(root, ("imola",))))
    assert tree(root) == before
    (root / IMOLA).chmod(stat.S_IRUSR | stat.S_IWUSR)


def test_without_the_patch_it_says_so(tmp_path):
    assert any("Custom Shaders Patch is not there" in line for line in run(SetupOptions(game(tmp_path, patch=False))))


@pytest.mark.parametrize("name", ["imol", "..", "../..", "", "imola/../../x"])
def test_no_such_track(tmp_path, name):
    with pytest.raises(UsageError, match=r"--track .*: no such track"):
        list(run(SetupOptions(game(tmp_path), (name,))))


def test_a_track_whose_data_is_packed(tmp_path):
    root = game(tmp_path)
    put(root / "content" / "tracks" / "packed" / "data.acd")
    with pytest.raises(UsageError, match=r"--track packed: this track has no data/surfaces\.ini"):
        list(run(SetupOptions(root, ("packed",))))
