"""What is done with fits: methods by name, comparisons, the quality of links, saved models."""
