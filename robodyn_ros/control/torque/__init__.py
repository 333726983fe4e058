"""Model torque evaluated in a control cycle."""
