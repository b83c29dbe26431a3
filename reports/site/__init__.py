"""The report: a folder of pages that opens from disk, or one page; the same numbers as files."""

from reports.site.folder import FILES, Written, write, write_single
from reports.site.several import folder_of, write_several

__all__ = ["FILES", "Written", "folder_of", "write", "write_several", "write_single"]
