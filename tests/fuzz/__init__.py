"""Random and damaged input for the native part, which must agree with its twin in Python: python -m tests.fuzz."""
