"""Finding the judged documents of a run and counting their ranks: in C++, and the same in pure Python."""
