"""The command line: thin, one file per verb."""
