"""The conventions of other tools: their numbers under their names, and why two numbers differ."""
