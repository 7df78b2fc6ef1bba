"""The miniature world of camera racing: tracks of painted lanes between walls, a small car, and the camera on it."""
