"""Selection of the friction law."""
