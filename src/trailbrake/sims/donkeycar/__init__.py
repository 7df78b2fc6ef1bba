"""The simulator of donkeycar and gym-donkeycar (sdsandbox): a camera and more, JSON lines over TCP."""
