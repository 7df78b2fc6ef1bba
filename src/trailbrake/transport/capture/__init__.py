"""Pictures of a window on the screen, or of a served world's view, for simulators whose wire has no camera."""
