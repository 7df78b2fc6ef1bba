from trailbrake.control.minicar.wrong_way import READING_INTERVAL, REQUIRED_READINGS, WrongWayCounter


def test_it_looks_as_the_car_rolls_and_not_while_it_stands():
    watch = WrongWayCounter()
    due = [watch.is_due(0.25 * READING_INTERVAL) for _ in range(8)]
    assert due == [False, False, False, True] * 2
    assert not any(watch.is_due(0.0) for _ in range(100))


def test_arrows_and_backs_make_sure_after_a_few_looks_and_it_begins_anew():
    for arrows, backs in (("backward", 0), ("", 2), ("backward", 1)):
        watch = WrongWayCounter()
        assert [watch.add_reading(arrows, backs) for _ in range(2 * REQUIRED_READINGS)] == (
            [False] * (REQUIRED_READINGS - 1) + [True]
        ) * 2


def test_arrows_of_the_right_way_weigh_as_much_and_more_than_a_back_in_the_same_picture():
    watch = WrongWayCounter()
    for _ in range(20):
        assert not watch.add_reading("backward", 0)
        assert not watch.add_reading("forward", 0)
        assert not watch.add_reading("forward", 3)
    assert not any(watch.add_reading("", 0) for _ in range(20))


def test_the_right_way_is_no_credit_for_later():
    watch = WrongWayCounter()
    for _ in range(50):
        watch.add_reading("forward", 0)
    assert [watch.add_reading("backward", 0) for _ in range(REQUIRED_READINGS)][-1]
