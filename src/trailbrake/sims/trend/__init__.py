"""Trend Micro's Formula Trend: a camera, a small car, and Socket.IO."""
