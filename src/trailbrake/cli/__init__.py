"""The command line: thin, a few related verbs to a file."""
