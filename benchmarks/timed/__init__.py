"""Parts of the speed benchmark."""
