"""Simulators that call an agent over Socket.IO and trade one telemetry event for one command: Formula Trend, Udacity.

Shared by their folders in `sims`: both ends of the wire, the options, the doctor, and `event_simulator`, which declares
one of them.
"""
