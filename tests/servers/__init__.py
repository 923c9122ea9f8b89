"""Servers that tests meet: real ones on loopback, started once for a whole run of the tests and ended with it."""
