"""The page on which people judge: a server for this machine, and its files for the browser."""
