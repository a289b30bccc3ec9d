"""What a process is besides its protocol and its graph: who acts next, what surrounds nodes, when it ends."""
