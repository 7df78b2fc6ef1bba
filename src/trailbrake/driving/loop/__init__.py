"""The drive loop: wait, read, act, check, write; the supervisor; braking to a standstill."""
