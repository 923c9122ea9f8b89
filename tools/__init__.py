"""What makes a fresh clone ready: plain standard-library Python, because no package is there yet."""
