"""The command `robodyn`."""
