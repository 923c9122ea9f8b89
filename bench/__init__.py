"""Ratios against the same work by hand, in one run."""
