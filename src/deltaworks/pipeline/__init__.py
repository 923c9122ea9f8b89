"""The pipeline file, the plan made from it, and the runner that carries it out."""
