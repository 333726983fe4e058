"""What torque a motion needs: models linear in their parameters."""
