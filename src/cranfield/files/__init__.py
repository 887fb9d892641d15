"""Checking, converting and writing files of judgments and runs."""
