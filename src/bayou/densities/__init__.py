"""Densities of numeric columns, one file each: the recipe users choose, its summary, how it is read and drawn."""
