"""trec_eval's side of the measures: its names and their order, its parameters, its averages, and where it errs."""
