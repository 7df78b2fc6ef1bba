from trailbrake.evaluate.plan import Cell
from trailbrake.evaluate.worker import CellJob
from trailbrake.evaluate.worker_process import WorkerProcess

JOB = CellJob(Cell(sim="assetto", track="hartmoor", car="gt3", driver="line_follow"))


def test_a_cell_that_takes_too_long_is_given_up_and_the_next_worker_is_a_new_one(tmp_path):
    worker = WorkerProcess(tmp_path / "log", patience=0.02)
    for _ in range(2):
        result = worker.run_job(JOB)
        assert (result.outcome, result.ended) == ("error", "no result within 0.02 s of wall time")
    worker.end_quietly()


def test_a_closed_worker_has_no_result(tmp_path):
    worker = WorkerProcess(tmp_path / "log", patience=60.0)
    worker.close()
    assert worker.run_job(JOB) is None
