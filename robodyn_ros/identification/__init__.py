"""From recording to parameters."""
