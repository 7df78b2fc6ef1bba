"use strict";
// The buttons of the three-dimensional view, and what it shows of a frame. Its code is loaded when it is first wanted.
const VIEWS = ["map", "chase", "cockpit", "helicopter", "trackside"];
const FULL_WHEEL = 7;  // rad of a steering wheel that count as full lock, where a car tells nothing but that
const sceneView = { kind: "map", view: null, loading: null, header: null, error: "" };

function buildViews() {
  byId("views").replaceChildren(...VIEWS.map((kind) => button(kind, () => chooseView(kind))));
  drawViews();
}
function drawViews() {
  for (const made of byId("views").children) made.setAttribute("aria-pressed", String(made.textContent === sceneView.kind));
  byId("scene-box").hidden = sceneView.kind === "map";
  byId("scene-note").textContent = sceneView.error;
  byId("scene-note").hidden = !sceneView.error;
}
async function chooseView(kind) {
  sceneView.kind = kind;
  drawViews();
  if (kind === "map" || !live.header) return;  // before the drive: loaded when its header comes
  try {
    await loadScene();
  } catch (error) {  // no WebGL, or the server has gone: the map shows the same cars
    sceneView.kind = "map";
    sceneView.error = `no three-dimensional view: ${error.message}`;
    for (const made of byId("views").children) made.disabled = made.textContent !== "map";
  }
  fresh = true;
  drawViews();
}
async function loadScene() {
  if (!sceneView.view) {
    const { SceneView } = await import("./scene/main.js");
    sceneView.view = new SceneView(byId("scene"));
  }
  if (sceneView.header !== live.header) {
    const header = live.header, answer = await fetch("scene.json");
    if (!answer.ok) throw new Error("the road cannot be loaded");
    sceneView.view.setRoad(await answer.json());
    sceneView.header = header;
  }
  sceneView.view.setTheme(theme);
  resizeScene();
}
function resizeScene() {
  if (sceneView.view && !byId("scene-box").hidden) sceneView.view.resize(inner(byId("scene-box")));
}
const orZero = (number) => (Number.isFinite(number) ? number : 0);
function drawScene(at) {
  if (sceneView.kind === "map" || !sceneView.view || sceneView.header !== live.header) return;
  const read = (name) => value("state", name), x = read("x"), y = read("y");
  if (!Number.isFinite(x + y)) return;
  const own = {
    key: "own", x, y, z: read("z"), yaw: orZero(read("yaw")), pitch: orZero(read("pitch")), roll: orZero(read("roll")),
    steer: orZero(supplied("steer")), speed: orZero(read("speed")), braking: supplied("brake") > 0.02, ghost: false,
  };
  const others = otherCars().filter((car) => Number.isFinite(car.x + car.y)).map((car) => ({
    ...car, key: car.index, yaw: orZero(car.yaw), pitch: 0, roll: 0, steer: Math.max(-1, Math.min(1, orZero(car.steering_wheel_angle) / FULL_WHEEL)),
    speed: orZero(car.speed), braking: car.is_braking > 0, ghost: car.index >= GHOSTS_FROM,
  }));
  sceneView.view.draw(sceneView.kind, own, others, at);
}
buildViews();
