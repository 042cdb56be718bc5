"""What algebra is worth: peaks, times and operations with and without its rules."""
