"""Random and damaged input for the native part, which must answer as its twin in Python does: python -m tests.fuzz."""
