"""A model ⇄ a file anyone may hand us; checkpoints that survive being killed. Knows no classifier: kinds are given."""
