"""Operating-system helpers: processes, signals, clocks, timers and scheduling."""
