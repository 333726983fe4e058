"""Foundation of every node: parameters, guarded callbacks, waits, presence."""
