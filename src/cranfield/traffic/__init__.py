"""Logs of production: read, sampled, and their clicks counted."""
