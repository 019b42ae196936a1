"""What is made of the data before a fit: which points are neighbours, and the links that say so."""
