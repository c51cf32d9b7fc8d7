"""Adapters to other libraries, one file each, imported only when asked for."""
