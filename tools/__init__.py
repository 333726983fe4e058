"""Build and test tools; they use only the standard library."""
