"""Node `cell`: the simulated robot cell."""
