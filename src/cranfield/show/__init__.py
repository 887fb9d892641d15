"""Results as text, tables and charts."""
