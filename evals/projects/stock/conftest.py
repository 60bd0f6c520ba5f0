"""Makes the package importable from its tests."""
