"""Udacity's self-driving car simulator, term 1: a camera and two numbers, Socket.IO."""
