import os

from trailbrake.analysis.map_frames import DrivenPath
from trailbrake.errors import DataError
from trailbrake.evaluate import cell_video
from trailbrake.evaluate.cell_video import add_videos
from trailbrake.evaluate.plan import Cell, PlannedCell
from trailbrake.evaluate.result_folder import ResultFolder

CELLS = [Cell(sim="assetto", track="pinegrove", car=car, driver="d") for car in ("gt3", "f1", "kart")]


def test_recorded_cells_get_a_video_once_and_what_fails_is_said(tmp_path, monkeypatch):
    folder, said, written = ResultFolder(tmp_path), [], []

    def write(target, road, path, title):
        if "f1" in title:
            raise DataError("no drive to show", where=title)
        written.append(title)
        video = target.with_suffix(".png")
        video.parent.mkdir(exist_ok=True)
        video.write_text("")
        return video

    monkeypatch.setattr(cell_video, "write_lap_video", write)
    monkeypatch.setattr(cell_video.Recording, "open", lambda path: path)
    monkeypatch.setattr(cell_video, "read_driven_path", lambda recording: DrivenPath(*[None] * 5))
    folder.recordings.mkdir()
    for cell in CELLS[:2]:
        folder.find_recording(cell).write_text("")
    planned = [*(PlannedCell(cell, "judged") for cell in CELLS), PlannedCell(CELLS[0], "reference")]
    for _ in range(2):
        rows = [{} for _ in planned]
        add_videos(rows, planned, folder, said.append)
    assert rows[0]["video"] == f"videos/{folder.find_video(CELLS[0]).name}.png"
    assert [list(row) for row in rows[1:]] == [[], [], []]
    assert written == ["d, gt3 on pinegrove"]
    assert said[0].startswith("no video: d, f1 on pinegrove: no drive to show")
    assert said[1].startswith("1 cells have no recording")
    os.utime(folder.find_recording(CELLS[0]), (4e9, 4e9))  # driven again since
    add_videos([{} for _ in planned], planned, folder, said.append)
    assert len(written) == 2
