"""Judge until decided: which documents can still change the verdict of a comparison, and when it is final."""
