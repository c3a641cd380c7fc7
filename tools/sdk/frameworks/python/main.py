"""A Python framework against a diglot server; see harness.py."""

from harness import main

main()
