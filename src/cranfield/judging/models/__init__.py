"""Models as assessors: prompts, endpoints, replies, budgets, and the checks of how far a model can be trusted."""
