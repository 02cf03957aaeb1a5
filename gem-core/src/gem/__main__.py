"""`python -m gem` is `gemx`."""

from gem_core import main

main()
