"""The pages of shared memory, and the state that the game keeps in their buttons and counters."""
