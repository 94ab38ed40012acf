"""Tag maps: one YAML file per framework family, from the framework's key to a signal."""
