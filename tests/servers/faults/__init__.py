"""A proxy in front of the S3 server that does to requests what a test asks for, in a process of its own."""
