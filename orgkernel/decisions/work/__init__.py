"""Work as it is handed down and reported: contracts, bills, batches, and who can handle what."""
