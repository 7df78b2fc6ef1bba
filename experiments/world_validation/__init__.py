"""The cases of the validation page: checks against a truth from elsewhere."""
