"""Commands that connect to a running robot."""
