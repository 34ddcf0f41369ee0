"""The environment of child processes that must be left alone: not measured, since they die, or may not write."""

import os


def bare(**more: str) -> dict[str, str]:
    """This process's environment without what makes a child record its coverage."""
    return {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE")} | more
