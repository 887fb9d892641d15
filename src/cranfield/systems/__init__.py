"""Live search systems under test: what they are asked, how they are asked, and what they answered."""
