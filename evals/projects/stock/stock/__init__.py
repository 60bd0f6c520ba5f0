"""Goods in a shop: what they cost, what they are called, what was counted."""
