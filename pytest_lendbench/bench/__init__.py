"""Bench work: I/O without pytest."""
