from trailbrake.car_contacts import EPISODE_GAP, CarContact, ContactLog


def touch(time, pair=(0, 1), speed=1.0, impulse=10.0):
    return CarContact(time, time, *pair, 50.0, 1.0, 2.0, speed, impulse)


def test_scraping_is_one_contact_with_the_hardest_speed_and_the_whole_impulse():
    log = ContactLog()
    for k, speed in enumerate((1.0, 3.0, 0.5)):
        log.add_touch(touch(10.0 + 0.1 * k, speed=speed))
    (contact,) = log.contacts
    assert (contact.time_s, round(contact.end_s, 9), contact.closing_mps, contact.impulse_ns) == (10.0, 10.2, 3.0, 30.0)


def test_a_pause_begins_another_contact_and_pairs_do_not_mix():
    log = ContactLog()
    log.add_touch(touch(1.0))
    log.add_touch(touch(1.1, pair=(1, 2)))
    log.add_touch(touch(1.0 + EPISODE_GAP))  # still the first
    log.add_touch(touch(1.3 + 2 * EPISODE_GAP))
    assert [(c["first"], c["second"], c["time_s"]) for c in log.list_contacts()] == [(0, 1, 1.0), (1, 2, 1.1),
                                                                                    (0, 1, 1.8)]  # fmt: skip


def test_the_line_of_a_car_names_the_other():
    contact = touch(4.0, pair=(2, 5))
    assert "with car 5 " in contact.describe(2)
    assert "with car 2 " in contact.describe(5)
    assert "s 50 m: closing at 1.0 m/s, impulse 10 N s" in contact.describe(5)
