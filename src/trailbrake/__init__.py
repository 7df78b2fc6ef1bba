"""trailbrake: write an AI driver once, drive it in several simulators or with no game at all."""

__version__ = "0.1.0"
