"""`python -m clueval_xlsx` and the `clueval-xlsx` command."""

from clueval_xlsx.cli import main

if __name__ == "__main__":
    main()
