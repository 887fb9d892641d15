"""How the judged documents of a run are found and their ranks counted: in C++, and the same in pure Python."""
