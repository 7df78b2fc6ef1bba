"""Cars as data and as a model: parameters, library, tyre law, loads and forces of an axle, the g-g-v envelope."""
