"""Floor 1: the wire, protocol 1. Imports nothing of ours."""
