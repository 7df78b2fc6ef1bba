"""Cars that a program steps: supervised, in real time from a process of their own."""
