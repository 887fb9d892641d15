"""Where judgments come from: a store of who said what, views of it as judgments, and how far assessors agree."""
