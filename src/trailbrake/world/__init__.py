"""The embedded simulator. It knows nothing of wires."""
