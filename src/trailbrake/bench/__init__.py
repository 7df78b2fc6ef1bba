"""Benchmarks: each module named in BENCHES has `measure_rows() -> list[BenchRow]`; the others are their parts."""

BENCHES = (
    "assetto", "beamng", "camera", "coupling_cases", "cuda", "drive", "forza", "page", "protection", "trend", "world",
)  # fmt: skip
