"""What is done to tables: one verb a file, each looked at first and then done."""
