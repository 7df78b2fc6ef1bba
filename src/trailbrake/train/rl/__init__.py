"""Learns to drive from the embedded world by reinforcement learning."""
