"""The suite of overtaking: fixed scenes with rivals, driven through a wire, and their scores."""
