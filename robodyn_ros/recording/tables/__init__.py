"""Recordings in tables: CSV, MATLAB, NPZ."""
