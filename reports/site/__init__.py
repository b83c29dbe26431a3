"""The report folder: one page that opens from disk, and the same numbers as files."""

from reports.site.folder import FILES, write
from reports.site.page import page

__all__ = ["FILES", "page", "write"]
