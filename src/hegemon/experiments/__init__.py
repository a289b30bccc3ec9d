"""What runs many: worst starts, comparisons."""
