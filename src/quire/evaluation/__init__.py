"""Measuring: how well a book is found and answered, whether a change made it worse, how fast."""
