"""Tracks of the miniature world: six painted lanes between walls, in two halves that part at forks and join again."""
