"""Use of a result in each control cycle: additive torque, collision detection, limits."""
