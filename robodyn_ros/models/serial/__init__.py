"""Serial robots from a URDF."""
