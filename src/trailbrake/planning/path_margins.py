"""How far lines keep from the edges where no margin is given. `--help` imports this module for the flags."""

EDGE_MARGIN = 0.6  # m between the car's side and the edge: the error of a driver at the limit
KERB_MARGIN = 0.2  # m, beside lines that use the kerbs: the error of `line_track` at the limit
