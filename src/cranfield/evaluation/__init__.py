"""Evaluating a run, and what is known of the result: values, facts about queries, saving, explaining, advice."""
