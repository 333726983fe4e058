"""Node `collision_monitor`. NOT a safety function."""
