"""Endurance of cell, feed-forward, collision monitor and recorder under random faults."""
