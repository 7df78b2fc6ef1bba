"""What several drivers are made of."""
