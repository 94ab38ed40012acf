"""The HTML report: one self-contained file without network access."""

from .document import HEAD, to_html

__all__ = ["HEAD", "to_html"]
