"""Benchmarks: each module named in BENCHES has `measure_rows() -> list[BenchRow]`; the others are their parts."""

BENCHES = ("assetto", "beamng", "cuda", "drive", "forza", "trend", "world")
