"""From features and rulebooks to a `Diagnosis`."""
