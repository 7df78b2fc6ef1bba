from pathlib import Path

import platformdirs

from trailbrake.config import recordings_folder


def test_recordings_go_where_the_variable_says(monkeypatch, tmp_path):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path / "mine"))
    assert recordings_folder() == tmp_path / "mine"


def test_else_to_the_user_s_data_folder(monkeypatch):
    home = Path(platformdirs.user_data_dir("trailbrake", appauthor=False))
    for variable in (None, ""):
        if variable is None:
            monkeypatch.delenv("TRAILBRAKE_RECORDINGS", raising=False)
        else:
            monkeypatch.setenv("TRAILBRAKE_RECORDINGS", variable)
        assert recordings_folder() == home / "recordings"


def test_asking_makes_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path / "mine"))
    recordings_folder()
    assert list(tmp_path.iterdir()) == []
