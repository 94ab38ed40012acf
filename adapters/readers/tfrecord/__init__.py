"""A reader of TensorBoard event files: vectorised, checking everything, tolerant of damage."""
