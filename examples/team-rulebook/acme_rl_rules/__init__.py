"""Acme's rulebooks for rl-diagnose: data only."""
