"""The tables that measures read; they import nothing that reads files."""
