"""Streams of messages: Kafka, NATS JetStream, Redis Streams and files that grow.

The place in every partition lives in our own checkpoint, beside the model; what a broker is told is only a hint.
"""
