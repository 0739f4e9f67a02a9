"""``python -m trunkline`` is the command line."""

from trunkline.cli import main

if __name__ == "__main__":
    main()
