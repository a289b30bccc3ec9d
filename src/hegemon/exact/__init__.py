"""What always happens, and exact expectations."""
