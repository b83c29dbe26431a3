"""Top floor: wires the floors together, one module a command."""
