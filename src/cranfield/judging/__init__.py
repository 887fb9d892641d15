"""Where judgments come from: a store of grades with their assessors, views of it as judgments, and agreement."""
