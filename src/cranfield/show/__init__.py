"""Results to what people read."""
