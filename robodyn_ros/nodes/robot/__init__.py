"""The robot as nodes see it: joint states, effort, controllers, payload."""
