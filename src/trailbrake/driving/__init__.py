"""What a drive is: its goal as a value, and the monitor that follows a car along a road."""
