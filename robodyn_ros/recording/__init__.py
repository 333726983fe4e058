"""Recordings of joint states: reading, checking, writing."""
