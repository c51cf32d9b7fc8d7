"""Every speed claim, side by side with the peer, in one run: `make bench`."""
