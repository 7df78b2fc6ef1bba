"""Control of full-size cars: speed, heading, lane keeping, gears and slip, and recovery after a spin."""
