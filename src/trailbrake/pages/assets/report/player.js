"use strict";
// Plays the shown laps together, each car where it was at that time since its lap began: scrub, speed, loop.
const player = { playing: false, speed: 1, loop: true, last: 0 };
const lapEnd = (lap) => (lap.time ? lap.time.findLast((t) => t !== null) : null);
function playedLaps() {
  return shownLaps().map(([lap]) => lap).filter((lap) => lapEnd(lap));
}
const longest = () => Math.max(0.001, ...playedLaps().map(lapEnd));

function buildPlayer() {
  const play = element("button", { type: "button", id: "play", textContent: "▶ Play" });
  play.onclick = () => setPlaying(!player.playing);
  const scrub = element("input", { type: "range", id: "scrub", min: 0, max: 1, step: 0.0005, value: 0 });
  scrub.setAttribute("aria-label", "Time in the lap");
  scrub.oninput = () => { setPlaying(false); setTime(Number(scrub.value) * longest()); };
  const speed = element("select", { id: "pace" });
  speed.setAttribute("aria-label", "Speed of the replay");
  for (const factor of [0.1, 0.25, 0.5, 1, 2, 4]) {
    speed.append(element("option", { value: factor, textContent: `${factor}×`, selected: factor === 1 }));
  }
  speed.onchange = () => { player.speed = Number(speed.value); };
  const loop = element("input", { type: "checkbox", id: "loop", checked: true });
  loop.onchange = () => { player.loop = loop.checked; };
  byId("player").append(play, scrub, element("output", { id: "clock", textContent: clock(0) }), speed,
    element("label", {}, loop, " loop"));
}
function setPlaying(playing) {
  if (playing === player.playing) return;
  player.playing = playing;
  byId("play").textContent = playing ? "❚❚ Pause" : "▶ Play";
  if (!playing) return;
  if (view.time === null || view.time >= longest()) setTime(0);
  player.last = performance.now();
  requestAnimationFrame(advance);
}
function advance(now) {
  if (!player.playing) return;
  const next = view.time + (Math.max(0, now - player.last) / 1000) * player.speed;
  player.last = now;
  const over = next > longest();
  setTime(over ? (player.loop ? 0 : longest()) : next);
  if (over && !player.loop) setPlaying(false);
  else requestAnimationFrame(advance);
}
// The lap in focus moves the cursor of the charts; the others are ghosts on the map.
let played = false;  // whether it is the player who moves the cursor
function setTime(time) {
  view.time = time;
  byId("scrub").value = time / longest();
  byId("clock").textContent = clock(time);
  const lap = report.laps[view.focus], index = lap.time ? Math.max(0, indexAt(lap, time)) : 0;
  played = true;
  if (index === view.cursor) notify("cursor"); else setCursor(index);
  moveCharts();
  played = false;
}
on("cursor", () => {
  if (played) return;
  view.time = null;
  setPlaying(false);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== " " || /^(INPUT|SELECT|BUTTON|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  setPlaying(!player.playing);
});
if (report.laps.some((lap) => lap.time && lap.x)) buildPlayer(); else byId("player").hidden = true;
