"""Roads and tracks: geometry, projection, loading, building, and the library."""
