"""Our speed, as fixed rows. Each module here is one bench: `rows() -> list[Row]`."""
