"""PalmClaw: an AI agent that lives on a person's phone."""

__version__ = "0.1.0"
