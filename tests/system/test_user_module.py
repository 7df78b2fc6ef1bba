"""Files of the user's as modules: errors name the file as the user wrote it, and the line."""

from pathlib import Path

import pytest

from trailbrake.errors import DataError, UsageError
from trailbrake.system.user_module import import_user_file, is_python_file, split_file_text


@pytest.mark.parametrize(
    ("text", "file", "name"),
    [("a.py", "a.py", ""), ("b/a.py:Mine", "b/a.py", "Mine"), ("/x.pyenv/a.py:Mine", "/x.pyenv/a.py", "Mine")],
)
def test_file_and_name(text, file, name):
    assert is_python_file(text)
    assert split_file_text(text) == (Path(file), name)


def test_a_name_is_no_file():
    assert not is_python_file("trend")


def test_a_file_may_import_the_modules_beside_it(tmp_path):
    (tmp_path / "beside_the_file.py").write_text("VALUE = 3\n")
    path = tmp_path / "one.py"
    path.write_text("from beside_the_file import VALUE\n")
    assert vars(import_user_file(path, "driver"))["VALUE"] == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [("x = (\n", "wrong.py:1: '(' was never closed"), ("\n1 / 0\n", "wrong.py:2: raised ZeroDivisionError on import")],
)
def test_errors_name_the_line(tmp_path, text, said):
    path = tmp_path / "wrong.py"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        import_user_file(path, "driver")
    assert said in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="no such simulator file"):
        import_user_file(tmp_path / "none.py", "simulator")
