"""Simulated cells, contacts and methods of `bench_collision.py`."""
