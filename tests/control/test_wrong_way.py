from trailbrake.control.wrong_way import EVERY, SURE, WrongWay


def test_it_looks_as_the_car_rolls_and_not_while_it_stands():
    watch = WrongWay()
    due = [watch.is_due(0.25 * EVERY) for _ in range(8)]
    assert due == [False, False, False, True] * 2
    assert not any(watch.is_due(0.0) for _ in range(100))


def test_arrows_and_backs_make_sure_after_a_few_looks_and_it_begins_anew():
    for arrows, backs in (("backward", 0), ("", 2), ("backward", 1)):
        watch = WrongWay()
        assert [watch.see(arrows, backs) for _ in range(2 * SURE)] == ([False] * (SURE - 1) + [True]) * 2


def test_arrows_of_the_right_way_weigh_as_much_and_more_than_a_back_in_the_same_picture():
    watch = WrongWay()
    for _ in range(20):
        assert not watch.see("backward", 0)
        assert not watch.see("forward", 0)
        assert not watch.see("forward", 3)
    assert not any(watch.see("", 0) for _ in range(20))


def test_the_right_way_is_no_credit_for_later():
    watch = WrongWay()
    for _ in range(50):
        watch.see("forward", 0)
    assert [watch.see("backward", 0) for _ in range(SURE)][-1]
