"""Published programs, reproduced number for number, and the mathematics that only they use."""
