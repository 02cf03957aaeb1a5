"""`python -m gem` is `gemx`."""

from gem.cli.main import main

main()
