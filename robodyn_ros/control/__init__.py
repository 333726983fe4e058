"""What is done with the result, each cycle."""
