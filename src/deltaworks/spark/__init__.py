"""Delta with a JVM: the session, its jars, and the steps that run on Spark."""
