"""Environments for reinforcement learning: the world as arrays of observations, actions and rewards.

`batch` takes and returns NumPy arrays and needs no extra package. `gym` has environments for Gymnasium, `zoo` one for
PettingZoo, `sb3` one for Stable-Baselines3. `link` drives through a simulator's wire, `camera` in the miniature world.
"""
