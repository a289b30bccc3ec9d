"""The published statements, each as an experiment that can support or refute it."""
