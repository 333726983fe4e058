"""Signals of a recording: resampled, filtered, differentiated, masked."""
