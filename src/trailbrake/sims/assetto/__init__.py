"""Assetto Corsa with Custom Shaders Patch, interface Custom AI."""
