"""First day on a real cell, with fake drivers of four kinds."""
