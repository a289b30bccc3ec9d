"""The search for protocols, judged by the exact chain."""
