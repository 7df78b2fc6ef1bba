"""Finding the game on machines made up for it."""

import sys
from pathlib import Path

import pytest
from helpers.assetto.installs import game, put, steam

from trailbrake.errors import UsageError
from trailbrake.sims.assetto.install import installation

GAME = Path("steamapps", "common", "assettocorsa")
on_linux = pytest.mark.skipif(sys.platform == "win32", reason="the folders of Linux")


def find(home, root=None, **environ):
    return installation.find_installation(root, home=home, environ=environ)


@on_linux
@pytest.mark.parametrize("folder", [".steam/steam", ".local/share/Steam",
                                    ".var/app/com.valvesoftware.Steam/.local/share/Steam"])  # fmt: skip
def test_in_steam_s_own_folder(tmp_path, folder):
    game(tmp_path / folder / GAME)
    found = find(tmp_path)
    assert found.root == tmp_path / folder / GAME
    assert found.has_patch
    assert found.documents is None  # never started under Proton


@on_linux
@pytest.mark.parametrize("at", ["steamapps", "config"])
@pytest.mark.parametrize("name", ["games", "Игры на диске", "游戏"])
def test_in_another_library(tmp_path, name, at):
    library = tmp_path / "mnt" / name
    steam(tmp_path / ".local/share/Steam", tmp_path / "gone", library, at=at)
    game(library / GAME, patch=False)
    (library / "steamapps/compatdata/244210/pfx").mkdir(parents=True)
    found = find(tmp_path)
    assert found.root == library / GAME
    assert not found.has_patch
    documents = library / "steamapps/compatdata/244210/pfx/drive_c/users/steamuser/Documents/Assetto Corsa"
    assert found.documents == documents
    assert found.overrides_folder == documents / "cfg" / "extension"


def test_lists_of_windows_have_doubled_backslashes(tmp_path):
    text = r'"libraryfolders" { ' + '\n"0"\n{\n\t"path"\t\t"D:\\\\Игры\\\\Steam"\n}\n\t"1"\t\t"E:\\\\Old"\n}'
    put(tmp_path / "steamapps" / "libraryfolders.vdf", text.encode())
    assert installation._list_libraries([tmp_path])[1:] == [Path("D:\\Игры\\Steam"), Path("E:\\Old")]


def test_a_list_that_is_rubbish(tmp_path):
    put(tmp_path / "steamapps" / "libraryfolders.vdf", b'"path" "\xff\xfe\0' * 100)
    assert installation._list_libraries([tmp_path]) == [tmp_path]


def test_root_before_environment_before_steam(tmp_path):
    a, b = game(tmp_path / "a"), game(tmp_path / "b")
    assert find(tmp_path, a, TRAILBRAKE_ASSETTO=str(b)).root == a
    assert find(tmp_path, TRAILBRAKE_ASSETTO=str(b)).root == b


def test_the_tree_of_a_served_world_will_do(tmp_path):
    (tmp_path / "served" / "content" / "tracks").mkdir(parents=True)
    assert find(tmp_path, tmp_path / "served").root == tmp_path / "served"


def test_nothing_there(tmp_path):
    with pytest.raises(
        UsageError, match=r"--root .*: no Assetto Corsa here, expected a folder with acs\.exe or content"
    ):
        find(tmp_path, tmp_path)
    with pytest.raises(UsageError, match=r"TRAILBRAKE_ASSETTO .*: no Assetto Corsa here"):
        find(tmp_path, TRAILBRAKE_ASSETTO=str(tmp_path))
    with pytest.raises(UsageError, match=r"not installed where Steam keeps its games, .* name its folder by --root"):
        installation.find_installation(None, home=tmp_path, environ={}, steam=[tmp_path / "steam"])
