"""Collision thresholds learned from healthy recordings, and collisions in recordings."""
