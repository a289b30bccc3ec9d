"""A protocol for papers and for other tools: LaTeX, state diagrams, the PRISM language, explicit chains."""
