"""What the host of udacity sends, and how it applies commands."""

from trailbrake.state import Controls


def test_commands_arrive_and_the_greeting_is_one_of_them(ends):
    ends.drive(60, Controls(steer=-0.4, throttle=0.5))
    assert ends.plant.car_state(0).steer < -0.2
    assert ends.host.read_counters()["rejected"] == 0
    ends.link.release()
    for _ in range(5):
        ends.tick()
    assert ends.plant.car_state(0).throttle < 0.05
