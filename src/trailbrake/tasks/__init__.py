"""Pure tasks in other processes, here or on the nodes of a Ray cluster."""
