"""The table of games with filters: a page of its own, or a part of the one-file report."""
