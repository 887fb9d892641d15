"""Several runs made one: fusion, and the choice of its settings without fooling yourself."""
