"""The learned state of a model as data, for its methods, reports, plots and the command line."""
