"""Rulebooks: loading with positions, resolving, membership, scoring, calibration."""
