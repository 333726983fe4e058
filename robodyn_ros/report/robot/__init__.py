"""The robot of a report in three dimensions."""
