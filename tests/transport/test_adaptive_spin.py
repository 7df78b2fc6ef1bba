"""Whether to look again and again, on a clock and a socket made of paper."""

from trailbrake.transport.adaptive_spin import MAX_SPIN_S, AdaptiveSpin


class Paper:
    """Each look takes 1 us; what is waited for is there `after` s of it, and the core is gone for `taken` s at `at`."""

    def __init__(self):
        self.now, self.looks, self.after, self.taken = 0.0, 0, 20e-6, {}

    def clock(self):
        return self.now

    def wait(self, spin):
        """Return whether one wait was over while spinning."""
        began = self.now

        def look():
            self.looks += 1
            self.now += 1e-6 + self.taken.pop(self.looks, 0.0)
            return self.now - began >= self.after

        return spin.spin_until(look)


def test_what_comes_soon_is_always_looked_for():
    paper = Paper()
    spin = AdaptiveSpin(paper.clock)
    assert all(paper.wait(spin) for _ in range(1000))


def test_what_comes_late_is_soon_only_waited_for():
    paper = Paper()
    paper.after = 3e-3  # 333 Hz
    spin = AdaptiveSpin(paper.clock)
    assert not any(paper.wait(spin) for _ in range(10_000))
    # 1 + 3 + 7 + ... waits go by without a spin: 8 of them are in the first 255, then one in 256.
    assert paper.now <= 50 * (MAX_SPIN_S + 2e-6)
    assert paper.looks > 9 * MAX_SPIN_S / 1e-6  # and it is tried anew now and then, or it could never pay again


def test_a_core_that_is_taken_away_ends_the_spin_and_soon_the_spinning():
    paper = Paper()
    spin = AdaptiveSpin(paper.clock)
    assert paper.wait(spin)
    paper.taken = {paper.looks + 5: 4e-3}
    looks = paper.looks
    assert paper.wait(spin)  # meanwhile it has come
    assert paper.looks == looks + 5
    assert not paper.wait(spin)  # distrust: the next one is only waited for
    assert paper.looks == looks + 5
    assert paper.wait(spin)
    # Where a core is taken every 30 looks, as beside a busy program, most waits come to be only waited for.
    paper.taken = dict.fromkeys(range(paper.looks, paper.looks + 100_000, 30), 4e-3)
    assert sum(paper.wait(spin) for _ in range(5000)) < 100


def test_one_that_is_lost_among_many_that_paid_changes_nothing():
    paper = Paper()
    spin = AdaptiveSpin(paper.clock)
    for _ in range(100):
        spun = [paper.wait(spin) for _ in range(30)]
        paper.after = 3e-3
        late = paper.wait(spin)
        paper.after = 20e-6
        assert (all(spun), late) == (True, False)


def test_trust_comes_back():
    paper = Paper()
    spin = AdaptiveSpin(paper.clock)
    paper.after = 3e-3
    for _ in range(3000):
        paper.wait(spin)
    paper.after = 20e-6
    spun = [paper.wait(spin) for _ in range(5000)]
    assert sum(spun) > 3900
    assert all(spun[-3000:])
