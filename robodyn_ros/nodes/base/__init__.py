"""What every node is built on: parameters, guarded callbacks, waits, presence."""
