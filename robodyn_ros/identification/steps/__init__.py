"""Steps of an identification, from processed signals to the result."""
