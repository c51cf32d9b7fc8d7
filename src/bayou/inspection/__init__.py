"""What a model has learned about its columns, as data: the same for models, reports, plots and the command line."""
