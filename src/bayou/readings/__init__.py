"""Fitted views of summaries (level 2): frozen values computed from summaries by pure readers."""
