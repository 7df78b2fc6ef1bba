from hypothesis import given
from hypothesis import strategies as st

from trailbrake.sims.forza.axes import forza_from_rotation, iso_from_forza, rotation_from_forza

components = st.floats(-1e6, 1e6)
vectors = st.tuples(components, components, components)


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@given(vectors, vectors)
def test_the_map_is_a_mirror_so_that_rotations_map_with_the_opposite_sign(a, b):
    assert rotation_from_forza(cross(a, b)) == cross(iso_from_forza(a), iso_from_forza(b))


@given(vectors)
def test_the_map_of_rotations_is_undone_by_its_inverse(v):
    assert forza_from_rotation(rotation_from_forza(v)) == v


def test_forward_left_and_up():
    assert iso_from_forza((0.0, 0.0, 1.0)) == (1.0, 0.0, 0.0)
    assert iso_from_forza((-1.0, 0.0, 0.0)) == (0.0, 1.0, 0.0)
    assert iso_from_forza((0.0, 1.0, 0.0)) == (0.0, 0.0, 1.0)
