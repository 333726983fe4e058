"""Pictures of the documentation, docs/pictures."""
