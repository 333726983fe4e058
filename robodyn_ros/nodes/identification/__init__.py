"""Node `identification`."""
