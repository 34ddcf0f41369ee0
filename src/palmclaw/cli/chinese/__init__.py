"""Chinese for what the terminal shows, read only where it is spoken: one table for each kind of words."""
