"""Fitted views: a summary together with how it is read, and when the reading is fresh."""
