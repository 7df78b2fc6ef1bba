"""Environments to learn in: the world as arrays of observations, actions and rewards.

`batch` is NumPy in and NumPy out and needs nothing else; `gym` makes Gymnasium environments of it, `zoo` a PettingZoo
one, `sb3` one for Stable-Baselines3. `link` is the same drive through a simulator's wire.
"""
