"""Files: data, links in many layouts, and saved states; one decoder, one writer, all atomic."""
