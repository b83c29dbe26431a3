"""JSON Schemas of what reports write."""
