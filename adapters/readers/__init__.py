"""Readers of containers (event files, CSV, JSON lines, npz …); they know nothing of any framework."""
