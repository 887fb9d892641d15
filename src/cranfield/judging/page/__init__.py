"""The page on which people judge: a server for this machine, and what the browser shows."""
