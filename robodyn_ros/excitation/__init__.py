"""Motions that excite the parameters of a robot: design, limits, collisions, export."""
