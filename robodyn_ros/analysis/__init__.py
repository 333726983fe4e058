"""What a user asks after the identification: comparisons, friction curves, delay, thresholds."""
