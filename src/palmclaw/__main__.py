"""`python -m palmclaw` is the same as the `palmclaw` command."""

from palmclaw.cli.main import main

if __name__ == "__main__":
    main()
