"""Many cases: those without a result are run, several at a time, and each result is stored when it is there."""
