"""Evaluating a run, and working with the result: values, facts about queries, saving, explaining, advice."""
