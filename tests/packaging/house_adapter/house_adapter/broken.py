"""An adapter that cannot be imported."""

raise RuntimeError("the house's second adapter is broken")
