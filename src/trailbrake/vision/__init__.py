"""Pure functions of camera images: walls and free ground, lanes and chevrons, signs. They know nothing of cars."""
