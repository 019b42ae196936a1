"""Where links come from: a page on which people answer questions, and judges that do."""
