"""Built-in rulebooks: YAML data."""
