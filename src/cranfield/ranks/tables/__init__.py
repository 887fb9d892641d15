"""The tables that measures read; nothing here reads files."""
