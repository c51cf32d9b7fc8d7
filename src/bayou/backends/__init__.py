"""Back ends that train one model from many shards: a pool of processes, and Apache Spark."""
