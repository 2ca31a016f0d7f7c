"""`python -m cellwright` is the `cellwright` command."""

from cellwright.cli import main

if __name__ == "__main__":
    main()
