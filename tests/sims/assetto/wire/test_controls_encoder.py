"""The controls page is the same, encoded in part or as a whole."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import UsageError
from trailbrake.sims.assetto import codec, convert, spec
from trailbrake.sims.assetto.link import Link
from trailbrake.sims.assetto.wire.controls_encoder import ControlsEncoder
from trailbrake.sims.assetto.wire.setting_buttons import ALL_RELEASED
from trailbrake.sims.assetto.wire.teleporter import NO_TELEPORT, TeleportRequest
from trailbrake.state import Controls, Pose, SimCommand

BUTTONS = st.sampled_from([ALL_RELEASED, (1, *ALL_RELEASED[1:]), (*ALL_RELEASED[:-1], 1)])


WISHES = st.builds(
    Controls, st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.0, 0.5]), st.floats(0, 1),
    st.sampled_from([None, -1, 3]), st.sampled_from([math.nan, 0.0, 1.0]), st.sampled_from([math.nan, 1.0]),
)  # fmt: skip


TELEPORTS = st.sampled_from(
    [NO_TELEPORT, TeleportRequest(1), *(TeleportRequest(2, Pose(x, 2.0, 3.0, 0.5)) for x in (1.0, 9.0))]
)


@given(st.lists(st.tuples(WISHES, st.sampled_from([0, 1, -1]), BUTTONS, TELEPORTS), min_size=1, max_size=8))
def test_a_page_is_what_it_would_be_encoded_as_a_whole(wishes):
    encoder = ControlsEncoder(3, headlights=True)
    for controls, shift, buttons, teleport in wishes:
        message = convert.controls_to_wire(
            controls, shift=shift, buttons=buttons, mguh_mode=3, headlights=True, teleport_to=teleport.teleport_to,
            teleport=teleport.pose,
        )  # fmt: skip
        assert encoder.encode(controls, shift, buttons=buttons, teleport=teleport) == codec.encode_controls(message)


def test_lights_and_the_turbo_s_motor_are_options(session):
    link = Link(spec.LiveOptions(headlights=True, mguh_mode=3, wait=1.0), doors=session.doors, idle=session.tick)
    session.links.append(link)
    link.open(session.now)
    session.drive(link, Controls(), 20)
    sent = session.sent_controls()
    assert (sent.headlights, sent.mguh_mode) == (1, 3)
    with pytest.raises(UsageError, match=r"--mguh-mode: no such mode, expected 0 to 255, got 256"):
        spec.LiveOptions(mguh_mode=256)


@pytest.mark.parametrize(
    ("command", "change"),
    [
        (SimCommand(), {}),
        (SimCommand(headlights=True), {"headlights": 1}),
        (SimCommand(headlights=False), {"headlights": 0}),
        (SimCommand(mguh_mode=7), {"mguh_mode": 7}),
        (SimCommand(mguh_mode=0), {"mguh_mode": 0}),
        (SimCommand(autoblip=False), {"autoblip_active": 0}),
    ],
)
@pytest.mark.parametrize(("mode", "lights"), [(3, True), (0, False)])
def test_a_command_changes_the_page_from_then_on(command, change, mode, lights):
    encoder = ControlsEncoder(mode, headlights=lights)
    before = codec.decode_controls(encoder.encode(Controls(), 0))
    assert (before.mguh_mode, before.headlights, before.autoblip_active) == (mode, int(lights), 1)
    encoder.apply_command(command)
    for _ in range(2):
        assert codec.decode_controls(encoder.encode(Controls(), 0)) == before._replace(**change)


def test_each_change_behind_the_axes_makes_a_new_page():
    encoder = ControlsEncoder(0, headlights=False)
    for clutch, gear in ((0.0, None), (0.5, None), (0.0, None), (0.0, 3), (1.0, 3), (0.0, None)):
        message = codec.decode_controls(encoder.encode(Controls(clutch=clutch, gear=gear), 0))
        assert (message.autoclutch_on_start, message.autoclutch_on_change) == (clutch == 0.0, clutch == 0.0)
        assert message.autoshift_active == (gear is None)


def test_what_stays_the_same_is_encoded_once(monkeypatch):
    encoded = []
    encode_controls = codec.encode_controls
    monkeypatch.setattr(codec, "encode_controls", lambda message: encoded.append(message) or encode_controls(message))
    encoder = ControlsEncoder(0, headlights=False)
    for steer in (0.0, 0.1, 0.2):
        encoder.encode(Controls(steer=steer), 0)
    assert len(encoded) == 1
    encoder.apply_command(SimCommand(headlights=True))
    for steer in (0.0, 0.1):
        assert codec.decode_controls(encoder.encode(Controls(steer=steer), 0)).headlights == 1
    assert len(encoded) == 2
