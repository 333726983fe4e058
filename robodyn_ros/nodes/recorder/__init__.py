"""Node `recorder`."""
