"""Competitions: entries over a schedule of races, judged by the embedded world, kept in a database."""
