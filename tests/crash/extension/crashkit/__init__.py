"""An extension as another package would bring it: a channel, a model and tools whose every effect can be counted."""
