"""The demo: seeded orders, and the shipped pipelines that land them."""
