"""Benchmarks: each module named in BENCHES has `measure_rows() -> list[BenchRow]`; the others are their parts."""

BENCHES = ("assetto", "beamng", "camera", "cuda", "drive", "forza", "page", "protection", "trend", "world")
