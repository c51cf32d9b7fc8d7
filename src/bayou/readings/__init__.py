"""Level 2: frozen values computed from summaries by pure readers."""
