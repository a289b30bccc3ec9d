"""The published statements, each as an experiment that can come out either way."""
