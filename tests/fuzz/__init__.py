"""Fuzzing of every decoder and loader: targets, seeds, a mutator, and the campaign that Atheris drives."""
