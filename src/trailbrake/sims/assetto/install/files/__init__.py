"""The files of an Assetto Corsa installation that a driver needs: read, checked, written."""
