"""Adapters to other libraries, one file each, imported only on demand."""
