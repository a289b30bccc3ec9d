"""What runs mean: statistics and pictures."""
