"""The common schema: the taxonomy of signals and the `Run` that holds them."""
