"""Delta Lake without a JVM."""
