"""Rules: pure, no pytest, no I/O."""
