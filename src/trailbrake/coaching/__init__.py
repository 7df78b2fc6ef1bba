"""Coaching: a person's own laps, what their car could do on that road, and what to change first. Live: `dashboard`."""
