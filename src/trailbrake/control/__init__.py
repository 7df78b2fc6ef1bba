"""Pure control maths on numbers, without CarState."""
