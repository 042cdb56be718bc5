"""What programs really take in memory, against what plimsoll says they need (docs/memory.md)."""
