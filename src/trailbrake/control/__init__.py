"""Control laws as pure functions and small classes; most of them on numbers."""
