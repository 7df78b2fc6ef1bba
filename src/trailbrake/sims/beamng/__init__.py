"""BeamNG's tight coupling over UDP: a controller in step with the physics of the car."""
