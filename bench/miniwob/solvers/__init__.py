"""Solvers, by families of tasks."""
