"use strict";
// What a page can request of a replay, a simulator or a driver.
const SPEEDS = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16];
let scrubbing = false;
const button = (text, action, title = "") => element("button", { type: "button", textContent: text, title, onclick: (event) => { action(); event.target.blur(); } });

function buildControls() {
  const replay = live.header.replay;
  byId("replay").hidden = !replay;
  if (replay) buildReplay(replay);
}
function drawControls() {
  if (live.controls.replay) drawReplayState(live.controls.replay);
  if (live.controls.drive) drawDriveState(live.controls.drive);
}

// --- a drive: its simulator and its driver's gains
const TIME_SCALES = [0.1, 0.25, 0.5, 1, 2, 4];
let placing = false;  // the next click on the map puts the car there
function drawDriveState({ offered, paused, time_scale: scale, gains, undo }) {
  const box = byId("commands"), has = (name) => offered.includes(name), parts = [];
  if (has("pause")) parts.push(button(paused ? "go on" : "pause", () => request("pause", [paused ? 0 : 1])), button("step", () => request("step"), "one sample, then pause"));
  if (has("time_scale")) {
    const choice = element("select", { onchange: () => request("time_scale", [Number(choice.value)]) }, ...TIME_SCALES.map((value) => (
      element("option", { value, textContent: `${value}×`, selected: value === scale }))));
    parts.push(element("label", {}, "time ", choice));
  }
  if (has("restart")) parts.push(button("restart", () => request("restart")));
  if (has("to_pits")) parts.push(button("to the pits", () => request("to_pits")));
  if (has("teleport")) parts.push(button(placing ? "click on the map" : "put the car", () => { placing = !placing; drawControls(); }, "puts the car where you click on the map"));
  box.replaceChildren(...parts);
  box.hidden = !parts.length;
  drawGains(gains, undo);
}
function drawGains(gains, undo) {
  byId("gains-box").hidden = !gains.length;
  const box = byId("gains");
  if (box.childElementCount !== gains.length + 1) {
    box.replaceChildren(button("undo", () => request("undo")), ...gains.map((gain) => {
      const field = element("input", { type: "number", step: "any", onchange: () => request("gain", [Number(field.value)], gain.name) });
      return element("label", { title: gain.meaning }, element("span", { textContent: gain.name.replaceAll("_", " ") }), field, element("small", { textContent: gain.unit === "1" ? "" : gain.unit }));
    }));
  }
  box.firstChild.disabled = !undo;
  gains.forEach((gain, i) => {
    const field = box.children[i + 1].querySelector("input");
    if (document.activeElement !== field) field.value = Number(gain.value.toPrecision(6));
  });
}
byId("map").addEventListener("click", (event) => {
  if (!placing || !map.view) return;
  const [ax, , , dy, ox, oy] = map.view.matrix;  // north up: no rotation
  request("teleport", [(event.offsetX - ox) / ax, (event.offsetY - oy) / dy]);
  placing = false;
  drawControls();
});

function buildReplay(replay) {
  byId("scrub").max = replay.duration;
  byId("play-speed").replaceChildren(...SPEEDS.map((speed) => element("option", {
    value: speed, textContent: speed < 1 ? `1/${1 / speed}` : `${speed}`, selected: speed === 1 })));
  byId("play-lap").replaceChildren(element("option", { value: "", textContent: "all" }), ...replay.laps.map((lap, i) => element("option", {
    value: i, textContent: `${lap.number}: ${clock(lap.time_s)}${lap.valid ? "" : " (invalid)"}` })));
  byId("ghost-box").hidden = !replay.laps.length;
  byId("ghosts").replaceChildren(...replay.laps.map((lap, i) => element("label", {},
    element("input", { type: "checkbox", value: i, onchange: sendGhosts }), ` ${lap.number}${i === replay.best ? " (best)" : ""}`)));
}
function sendGhosts() {
  request("ghosts", [...byId("ghosts").querySelectorAll("input:checked")].map((box) => Number(box.value)));
}
function chosenLap() {
  const index = byId("play-lap").value;
  return index === "" ? null : live.header.replay.laps[Number(index)];
}
function sendLoop() {
  const lap = chosenLap(), { duration } = live.header.replay;
  if (!byId("loop").checked) request("loop");
  else request("loop", lap ? [lap.start, lap.end] : [0, duration]);
}
function drawReplayState(state) {
  byId("play").textContent = state.playing ? "pause" : "play";
  byId("play-speed").value = String(SPEEDS.reduce((near, speed) => (Math.abs(speed - state.speed) < Math.abs(near - state.speed) ? speed : near)));
  byId("loop").checked = state.loop !== null;
  for (const box of byId("ghosts").querySelectorAll("input")) box.checked = state.ghosts.includes(Number(box.value));
  byId("delta-name").textContent = state.ghosts.length ? "to the first ghost" : "to the best";
}
function drawReplay() {
  const replay = live.header.replay;
  if (!replay) return;
  const place = value("health", "position"), whole = (seconds) => clock(Math.floor(seconds * 10) / 10).replace(/00$/, "");
  if (!scrubbing && Number.isFinite(place)) byId("scrub").value = place;
  byId("place").textContent = `${whole(place)} of ${whole(replay.duration)}`;
}
byId("scrub").addEventListener("input", () => { scrubbing = true; request("seek", [Number(byId("scrub").value)]); });
byId("scrub").addEventListener("change", () => { scrubbing = false; });
byId("play").onclick = () => request(live.controls.replay && live.controls.replay.playing ? "pause" : "play");
byId("back").onclick = () => request("step", [-1]);
byId("forth").onclick = () => request("step", [1]);
byId("play-speed").onchange = () => request("speed", [Number(byId("play-speed").value)]);
byId("play-lap").onchange = () => {
  const lap = chosenLap();
  if (byId("loop").checked) sendLoop();
  request("seek", [lap ? lap.start : 0]);
};
byId("loop").onchange = sendLoop;
window.addEventListener("keydown", (event) => {
  if (!live.header || !live.header.replay || event.ctrlKey || event.metaKey || event.altKey) return;
  if (["INPUT", "SELECT", "BUTTON"].includes(event.target.tagName) && event.target.id !== "scrub") return;
  const place = value("health", "position"), step = event.shiftKey ? 10 : 1;
  const actions = {
    Space: () => byId("play").click(), ArrowLeft: () => request("seek", [Math.max(0, place - step)]),
    ArrowRight: () => request("seek", [place + step]), Comma: () => request("step", [-1]), Period: () => request("step", [1]),
  };
  if (!(event.code in actions)) return;
  event.preventDefault();
  actions[event.code]();
});
