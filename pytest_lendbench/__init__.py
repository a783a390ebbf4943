"""Lending Desk Bench: the grader, as a pytest plugin. `ARCHITECTURE.md` names the layers."""
