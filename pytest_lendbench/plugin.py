"""The pytest plugin. It only registers."""
