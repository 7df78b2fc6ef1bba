"""The page in a real browser: what it shows of a drive, and a person's keys that move the car."""

import math
import threading
from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.browser import Browser, find
from helpers.coached_laps import make_circle_target
from PIL import Image as Picture

from trailbrake.cars.car_library import load_car
from trailbrake.dashboard.coach_choice import NO_RESULT, CoachChoice
from trailbrake.dashboard.live_view import LiveView
from trailbrake.dashboard.options import PageAccess
from trailbrake.drivers.manual import Driver
from trailbrake.driving.loop.drive_loop import CarLoop, LockstepPacer, run_loop
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.session.progress import SilentListener
from trailbrake.laps import LapRecord
from trailbrake.planning.course import Course
from trailbrake.roles import LinkCounters
from trailbrake.state import CarState, Controls, Image, OtherCar
from trailbrake.tracks.track_library import load_track
from trailbrake.transport.rendezvous import find_own_address

pytestmark = [pytest.mark.slow, pytest.mark.skipif(find() is None, reason="no Chromium here")]
PERIOD = 1.0 / 60.0


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = Browser(tmp_path_factory.mktemp("browser"))
    made.size(1400, 1000)
    yield made
    made.close()


def red_over_blue():
    pixels = np.zeros((120, 160, 3), np.uint8)
    pixels[:60, :, 0] = pixels[60:, :, 2] = 255
    out = BytesIO()
    Picture.fromarray(pixels).save(out, "JPEG", quality=95)
    return Image(out.getvalue(), lambda data: pytest.fail("decoded by the drive"))


class Cart:
    """A link to a point on a plane that goes where the controls say: `x' = v cos(yaw)`; with a camera."""

    SUPPLIES = ACCEPTS = frozenset()
    period = PERIOD

    def __init__(self, start):
        self.counters = LinkCounters(lost=42)
        self.state = CarState(time=0.0, x=start[0], y=start[1], z=0.0, yaw=start[3], speed=0.0, gear=1)
        self.controls = None
        self.rev_share = 0.5
        self.image = red_over_blue()
        self.stop = threading.Event()

    def step(self, now):
        self.stop.wait(PERIOD)  # real time: somebody watches
        old, controls = self.state, self.controls
        speed, yaw = old.speed, old.yaw
        if controls is not None:
            push = -controls.throttle if controls.gear == -1 else controls.throttle
            self.velocity = getattr(self, "velocity", 0.0) + 8.0 * push * PERIOD
            self.velocity -= math.copysign(min(abs(self.velocity), 12.0 * controls.brake * PERIOD), self.velocity)
            yaw += controls.steer * self.velocity / 5.0 * PERIOD
            speed = self.velocity
        self.state = CarState(
            time=now, sequence=old.sequence + 1, x=old.x + speed * math.cos(yaw) * PERIOD,
            y=old.y + speed * math.sin(yaw) * PERIOD, z=0.0, yaw=yaw, speed=abs(speed), gear=old.gear, steer=0.0,
            throttle=0.0 if controls is None else controls.throttle, brake=0.0, lap_time=now, image=self.image,
            engine_speed=700.0 * self.rev_share, max_engine_speed=700.0,
            others=[OtherCar(index=1, x=old.x + 20.0, y=old.y + 3.0, yaw=0.0)],
        )  # fmt: skip
        self.counters.received += 1

    def read(self, now):
        return self.state

    def write(self, controls):
        self.controls = controls


class Painter(Driver):
    """Driven by hand, with a picture of its own."""

    def __init__(self):
        super().__init__()
        self.debug = None

    def act(self, state, dt):
        self.debug = np.full((30, 40, 3), (0, 255, 0), np.uint8)
        return super().act(state, dt)


@pytest.fixture(scope="module")
def drive():
    """A drive that goes on in a thread: (its page, its cart, its supervisor)."""
    course = Course(load_track("pinegrove"), load_car("hatchback"))
    cart, driver, supervisor = Cart(course.track.road.points(np.array([5.0]), 0.0)[0]), Painter(), Supervisor()
    driver.reset(course)
    with LiveView(SilentListener()) as page:
        tap = page.start_view({"driver": "manual", "track": "pinegrove"}, cart, driver, course.track.road, None)
        seat = CarLoop(cart, driver, supervisor, [tap], lambda: None)
        thread = threading.Thread(target=run_loop, args=(seat, LockstepPacer(cart.step, PERIOD)))
        thread.start()
        yield page, cart, supervisor
        supervisor.request_stop("over")
        thread.join()


@pytest.fixture
def tab(browser, drive):
    browser.open(drive[0].url)
    browser.wait("live.frames > 25 && strips.length === 4")
    return browser


def pixel(browser, canvas, x, y):
    """The colour at a share of a canvas."""
    return browser.evaluate(
        f"(() => {{ const c = document.getElementById('{canvas}'); return [...c.getContext('2d')"
        f".getImageData(Math.floor(c.width * {x}), Math.floor(c.height * {y}), 1, 1).data]; }})()"
    )


def test_it_shows_map_camera_clocks_and_health(tab, drive):
    page, _, _ = drive
    page.show_lap(LapRecord(1, 83.25, True, (), "", 0.0, 0))
    tab.wait("document.getElementById('best-time').textContent === '1:23.250'")
    assert tab.evaluate("document.title") == "manual, live"
    assert tab.evaluate("document.getElementById('title').textContent") == "manual · pinegrove"
    assert tab.evaluate("document.getElementById('status').textContent") == "driving"
    tab.wait("document.getElementById('health').textContent.includes('lost42')")
    tab.wait("Number(document.getElementById('lap-time').textContent) > 0.3")
    tab.wait("!document.getElementById('camera-box').hidden && !document.getElementById('debug-box').hidden")
    red, blue = pixel(tab, "camera", 0.5, 0.25), pixel(tab, "camera", 0.5, 0.75)
    assert red[0] > 230 > 40 > red[2]
    assert blue[2] > 230 > 40 > blue[0]
    assert pixel(tab, "debug", 0.5, 0.5)[1] > 230
    drawn = tab.evaluate("""(() => {
      const c = document.getElementById('map');
      const bytes = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
      let n = 0;
      for (let i = 3; i < bytes.length; i += 4) n += bytes[i] > 0;
      return n; })()""")
    assert drawn > 2000, "no road on the map"
    assert tab.complaints == []


def test_the_dash_comes_first_with_shift_light_and_pedals(tab, drive):
    _, cart, _ = drive
    for share, name in ((0.5, "shift"), (0.9, "shift near"), (0.98, "shift now")):
        cart.rev_share = share
        tab.wait(f"document.getElementById('shift').className === '{name}'")
    assert tab.evaluate("document.getElementById('rpm').textContent") == "6551 rpm"
    assert tab.evaluate("document.getElementById('tyres').hidden"), "nothing is known of the tyres"
    assert not tab.evaluate("document.getElementById('health-box').open"), "counters are folded away"
    top = "document.getElementById('dash').getBoundingClientRect().top"
    assert tab.evaluate(f"{top} < document.querySelector('main').getBoundingClientRect().top")
    tab.size(400, 850)
    tab.wait("document.documentElement.scrollWidth <= 400")
    assert tab.evaluate("document.getElementById('dash').getBoundingClientRect().bottom < 850"), "one look on a phone"
    tab.size(1400, 1000)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read_on_its_ground_in_both_themes(tab, theme):
    tab.theme(theme)
    tab.wait(f"document.documentElement.dataset.theme === '{theme}'")
    ratio = """(() => {
      const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
      const light = (colour) => {
        const v = colour.match(/\\d+/g).slice(0, 3).map((c) => linear(c / 255));
        return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2] + 0.05; };
      const style = (element) => getComputedStyle(element), ground = light(style(document.body).backgroundColor);
      const texts = ['speed', 'status', 'seat', 'legend', 'lap-time'].map((id) => document.getElementById(id));
      return texts.map((element) => light(style(element).color))
        .map((text) => Math.max(text, ground) / Math.min(text, ground)); })()"""
    assert min(tab.evaluate(ratio)) > 4.5  # WCAG 2.1, AA


def test_keys_drive_the_car_and_letting_go_of_the_page_is_neutral(tab, drive):
    _, cart, _ = drive
    assert tab.evaluate("!document.getElementById('hands').hidden && document.querySelectorAll('kbd').length >= 10")
    assert tab.evaluate("document.getElementById('seat').textContent") == "Press a key to drive."
    tab.key("ArrowUp", True)
    tab.wait("live.seat === 'you' && supplied('speed') > 3")
    tab.key("ArrowLeft", True)
    tab.wait("value('controls', 'steer') > 0.2")
    tab.key("ArrowLeft", False)
    tab.key("ArrowRight", True)
    tab.wait("value('controls', 'steer') < -0.2")
    tab.key("ArrowRight", False)
    x, y = cart.state.x, cart.state.y
    tab.wait(f"Math.hypot(value('state', 'x') - {x}, value('state', 'y') - {y}) > 3")
    tab.wait("driven.x.length > 3")
    tab.key("Escape", True)
    tab.wait("live.seat === 'free' && value('controls', 'throttle') === 0")
    tab.key("Escape", False)
    tab.key("ArrowUp", False)
    tab.key("ArrowDown", True)
    tab.wait("value('controls', 'gear') === -1 && value('controls', 'throttle') > 0.5", 20)
    tab.key("ArrowDown", False)
    tab.key("Escape", True)
    tab.key("Escape", False)


def test_a_page_that_closes_its_eyes_stops_driving(tab, drive):
    tab.key("ArrowUp", True)
    tab.wait("live.seat === 'you'")
    tab.evaluate("window.dispatchEvent(new Event('blur'))")
    tab.wait("live.seat === 'free'")
    tab.key("ArrowUp", False)


def test_a_gamepad_drives(tab):
    tab.evaluate(
        "navigator.getGamepads = () => [{ connected: true, mapping: 'standard', axes: [-0.9, 0, 0, 0],"
        " buttons: Array.from({ length: 17 }, (_, i) => ({ value: i === 7 ? 0.5 : 0, pressed: i === 7 })) }]"
    )
    tab.evaluate("document.hasFocus = () => true")
    tab.wait("live.seat === 'you' && value('controls', 'steer') > 0.1")
    tab.wait("Math.abs(value('controls', 'throttle') - 0.5) < 0.01")
    tab.evaluate("navigator.getGamepads = () => []")
    tab.wait("live.seat === 'free' && value('controls', 'throttle') === 0")


def test_any_field_can_be_charted(tab):
    tab.evaluate("document.getElementById('values-box').open = true")
    tab.wait("listed.has('state.yaw')")
    assert not tab.evaluate("listed.has('state.roll')"), "a field that nobody supplies is not listed"
    tab.evaluate("listed.get('state.yaw').parentElement.querySelector('input').click()")
    tab.wait("strips.length === 5")
    tab.wait("history_.values['state.yaw'].filter((v) => v !== null).length > 5")


def test_frames_arrive_soon(tab):
    tab.evaluate("window.seen = []; window.before = heard.frame")
    tab.evaluate("heard.frame = () => { window.seen.push(live.latency); window.before(); }")
    tab.wait("window.seen.length > 100")
    late = sorted(tab.evaluate("window.seen"))
    assert -0.002 < late[0] < 0.02, "the page's clock and the server's are the same machine's"
    assert tab.complaints == []


def test_the_road_is_drawn_in_three_dimensions_or_the_map_remains(tab):
    tab.evaluate("chooseView('chase')")
    tab.wait("sceneView.error || (sceneView.view && sceneView.view.drawn > 2)", 60)
    if tab.evaluate("sceneView.error"):  # a browser without WebGL
        assert tab.evaluate("byId('scene-box').hidden && sceneView.kind === 'map'")
    else:
        assert tab.evaluate("!byId('scene-box').hidden && sceneView.view.renderer.info.render.triangles > 10000")
        assert tab.evaluate("sceneView.view.cars.size") == 2
        tab.evaluate("window.drawnBefore = sceneView.view.drawn; takeHeader({ ...live.header })")
        tab.wait("sceneView.view.drawn > window.drawnBefore + 2", 60)
        tab.evaluate("chooseView('map')")
    assert tab.complaints == []


class Coached:
    """A page of a person who is coached on a circle; `place` puts the car somewhere and waits until the page has it."""

    def __init__(self, browser, page, choice, road):
        self.browser, self.road, self.time = browser, road, 0.0
        link = SimpleNamespace(counters=LinkCounters(), ACCEPTS=frozenset())
        self.tap = page.start_view({"sim": "test"}, link, None, road, None, coach=choice)
        browser.open(page.url)

    def place(self, s, speed=20.0, others=()):
        self.time += 0.1
        x, y, z, yaw = self.road.points([s], 0.0)[0]
        state = CarState(time=self.time, x=x, y=y, z=z, yaw=yaw, speed=speed, lap=1, lap_time=s / speed, others=others)
        self.tap.tick(state, Controls())  # the server's thread alone updates
        self.browser.wait(f"value('state', 'time') === {self.time} && value('pace', 'lap_distance') > {s - 1.0}")

    def text(self, name):
        return self.browser.evaluate(f"byId('{name}').textContent")


def test_a_person_is_coached_by_times_words_and_beeps_and_in_silence_beside_others(browser):
    road, target = make_circle_target()
    point = target.corners[0].brakes["best"]
    with LiveView(SilentListener()) as page:
        coached = Coached(browser, page, CoachChoice(target), road)
        coached.place(300.0)
        browser.wait("byId('delta-limit').textContent === '+7.50'")
        assert (coached.text("hint"), coached.text("coach-line")) == ("T1: Brake later", "")
        browser.wait(f"byId('best-time').textContent === clock({target.times['best'][-1]})")
        browser.size(1180, 820)
        browser.call("Runtime.evaluate", expression="byId('full').click()", userGesture=True)
        browser.wait("document.fullscreenElement === byId('dash')")
        assert browser.evaluate("byId('dash').scrollWidth") <= 1180, "the dash alone fits a tablet"
        browser.evaluate("document.exitFullscreen()")
        browser.size(1400, 1000)
        assert not browser.evaluate("byId('beeps').checked || byId('speech').checked"), "silent unless it is wanted"
        browser.evaluate("window.done = []; playBeep = (k) => done.push(k); speak = (text) => done.push(text)")

        def approach(**others):
            browser.evaluate("done.length = 0")
            coached.place(0.75 * road.length, **others)
            for left in (2.0, 1.52, 1.2, 1.02, 0.8, 0.52, 0.3, 0.02):
                coached.place(point - 20.0 * left, **others)
            return browser.evaluate("done")

        assert approach() == []
        browser.evaluate("byId('beeps').click(); byId('speech').click()")
        browser.wait("live.sound === 'you'")
        assert approach() == ["Brake later", 3, 2, 1, 0]
        assert browser.evaluate("byId('countdown').querySelectorAll('.lit').length") == 4
        x, y, _ = road.point(point - 20.0)
        assert approach(others=[OtherCar(index=1, x=x, y=y), OtherCar(index=2, x=-y, y=x)]) == []
        assert browser.complaints == []
        browser.open("about:blank")  # no page tries a server again that is gone


def test_without_a_result_the_page_says_so_and_has_no_limit(browser):
    road, _ = make_circle_target()
    with LiveView(SilentListener()) as page:
        coached = Coached(browser, page, CoachChoice(None, NO_RESULT), road)
        coached.place(10.0)
        browser.wait("!byId('coach').hidden")
        assert coached.text("coach-line") == NO_RESULT
        assert browser.evaluate("byId('limit-box').hidden && byId('countdown').hidden && byId('coach-tools').hidden")
        assert browser.complaints == []
        browser.open("about:blank")  # no page tries a server again that is gone


def test_a_tablet_watches_and_a_wrong_token_is_one_line(browser, drive):
    access = PageAccess(watch_host=find_own_address())
    with LiveView(SilentListener(), access=access) as page:
        page.start_view({"driver": "manual"}, drive[1], Painter(), None, None).tick(drive[1].state, Controls())
        outer = page._server.outer_url
        browser.open(outer)
        browser.wait("live.frames > 3")
        browser.wait("document.getElementById('status').textContent.endsWith('this device watches')")
        assert browser.evaluate("getComputedStyle(document.getElementById('hands')).display") == "none"
        assert browser.evaluate("getComputedStyle(document.getElementById('commands')).display") == "none"
        browser.open(outer[:-2] + "/")
        browser.wait("document.body.innerText.includes('with its token')")
    known = ("403", "Cross-Origin-Opener-Policy")  # the refusal; a policy of encrypted pages alone
    assert [c for c in browser.complaints if not any(word in c["text"] for word in known)] == []
