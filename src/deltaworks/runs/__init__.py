"""What happened: results, records and their log."""
