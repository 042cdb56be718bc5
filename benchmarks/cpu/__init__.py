"""Times on the processor: plain XLA, our loops, our kernels, and those who do the same work."""
