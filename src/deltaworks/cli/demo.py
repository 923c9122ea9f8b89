"""`deltaworks demo`."""
def demo() -> None:
    """Demo."""
