"""The miniature world's camera: paint, walls, signs and parked cars, as the bumper of a car sees them."""
