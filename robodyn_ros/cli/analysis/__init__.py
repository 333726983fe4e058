"""Sub-commands of `robodyn` that analyse recordings and results."""
