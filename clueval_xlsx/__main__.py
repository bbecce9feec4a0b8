"""`python -m clueval_xlsx` and the `clueval-xlsx` command."""

import gc
import sys


def main() -> None:
    """Run the command line; somebody may already lose patience while it loads."""
    gc.disable()  # what is being loaded stays: looking for garbage in it, again and again, takes a tenth of the start
    try:
        from clueval_xlsx.cli import main as run
        from clueval_xlsx.cli.streams import prepare_signals

        prepare_signals()
        run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("Error: stopped.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
