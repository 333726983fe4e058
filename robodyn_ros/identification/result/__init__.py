"""Result of an identification."""
