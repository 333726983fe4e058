"""Recording of collisions, with which the detector can be run again bit by bit."""
