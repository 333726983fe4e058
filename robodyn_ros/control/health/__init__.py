"""Health of the model in use: what explains a slow torque error. Information, NOT safety."""
