"""`python -m hegemon` is the command `hegemon`."""

from hegemon.cli.main import main

main()
