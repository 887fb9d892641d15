"""Models as assessors: prompts, endpoints, replies, budgets, and checks of how reliable a model is."""
