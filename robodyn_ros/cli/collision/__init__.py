"""Commands for the collision monitor."""
