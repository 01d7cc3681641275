"""What the project aims at, as data in the ``*.toml`` beside this, and whether a run shows it."""

from workshop.aims.goal import Goal, goal_line
from workshop.aims.judged import goals
from workshop.aims.losses import losses

__all__ = ["Goal", "goal_line", "goals", "losses"]
