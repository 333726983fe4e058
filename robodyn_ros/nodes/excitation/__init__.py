"""Node `excitation`."""
