"""Cars as data: the parameter schema, the tyre law behind the parameters, and the library."""
