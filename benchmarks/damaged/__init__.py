"""The damage benchmark: what a copy is damaged with, how it is read, and what of it went wrong."""
