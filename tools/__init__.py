"""How the environment and the package are built; uses the standard library only."""
