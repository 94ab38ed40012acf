"""From a path to runs: which folders hold a run, which adapter reads it."""
