"""Forza Motorsport and Forza Horizon: "Data Out" telemetry by UDP, driven through a pad."""
