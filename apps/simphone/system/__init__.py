"""The state of the simulated Android: packages, activities, settings, properties, input methods, power."""
