"""What the simulators have in common that trade one telemetry for one command as Socket.IO events."""
