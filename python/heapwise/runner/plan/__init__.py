"""From what the user asked for to a plan, before anything is measured."""
