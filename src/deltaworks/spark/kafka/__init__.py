"""Kafka as sources and sinks need it: one login in two spellings, and what a broker tells before Spark starts."""
