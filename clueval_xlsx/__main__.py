"""`python -m clueval_xlsx` and the `clueval-xlsx` command."""

import sys


def main() -> None:
    """Run the command line; somebody may already lose patience while it loads."""
    try:
        from clueval_xlsx.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Error: stopped.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
