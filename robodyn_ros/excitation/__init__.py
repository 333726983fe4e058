"""Which motion reveals the parameters."""
