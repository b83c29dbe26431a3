"""misterx-arena: tournaments of bots at Scotland Yard and its sequels."""

__all__ = ["__version__"]

__version__ = "0.1.0"
