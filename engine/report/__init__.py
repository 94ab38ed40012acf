"""Outputs: one module each."""
