"""From judgments and a run to one table: the ranks and grades of the judged documents."""
