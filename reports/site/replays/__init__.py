"""The replays of a report: small pages that share one script beside them."""

from reports.site.replays.folder import SHARED, ReplayFolder

__all__ = ["SHARED", "ReplayFolder"]
