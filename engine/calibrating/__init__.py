"""Probabilities against labels: pairs of stated and true, fits with cross-validation, and the block in the rulebook."""
