"""The feature vocabulary: statistics of signals and relations between them, each with its reliability."""
