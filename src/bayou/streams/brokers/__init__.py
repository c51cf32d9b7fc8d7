"""Streams of messages: Kafka, NATS JetStream, Redis Streams and files that grow.

The position in every partition is kept in the checkpoint, with the model; offsets committed to a broker are never read.
"""
