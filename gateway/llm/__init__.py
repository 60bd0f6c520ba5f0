"""Language models: the port to them, recipes and packs (what they read), decisions (what they answer)."""
