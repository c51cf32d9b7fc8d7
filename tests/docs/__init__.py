"""The site: its code, its links, its reference."""
