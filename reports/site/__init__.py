"""The report: a folder of pages that opens from disk, or one page; the same numbers as files."""

from reports.site.folder import FILES, Written, write, write_single

__all__ = ["FILES", "Written", "write", "write_single"]
