"""Reports attached to the runs of experiment trackers: one module a tracker, each with `attach`."""
