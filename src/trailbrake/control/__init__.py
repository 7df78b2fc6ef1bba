"""Control laws as pure functions and small classes on numbers, without CarState."""
