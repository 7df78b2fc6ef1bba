"""Made-up installations of Assetto Corsa, and programs of others at its pages."""
