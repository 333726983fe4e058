"""Kinds of motions."""
