"use strict";
// The coach: time to the best sections and to the limit, the next corner's hint, and a countdown to the braking point.
const BEEPS = 3, BEEP_EVERY = 0.5;  // s: 1.5, 1 and 0.5 before the braking point, where a tone sounds
const SOON = 0.05;  // s before a beep at which its sound is ordered: longer than a frame takes
const countdown = { left: 0, corner: NaN, sound: null };

// The beeps that are due: [number before the point, s from now]. `before` is the least time left to this point so far;
// where more is left than that, it is another point, or the game was rewound, and nothing that is past sounds late.
function findBeeps(before, left) {
  if (left > before + BEEP_EVERY) return [];
  return Array.from({ length: BEEPS + 1 }, (_, k) => k).filter((k) => (
    left - k * BEEP_EVERY <= SOON && before - k * BEEP_EVERY > SOON)).map((k) => [k, Math.max(0, left - k * BEEP_EVERY)]);
}
function playBeep(number, delay) {
  const { sound } = countdown, wave = sound.createOscillator(), level = sound.createGain(), at = sound.currentTime + delay;
  const lasts = number ? 0.09 : 0.35;
  wave.frequency.value = number ? 880 : 1320;
  level.gain.setValueAtTime(0.3, at);
  level.gain.exponentialRampToValueAtTime(0.001, at + lasts);
  wave.connect(level).connect(sound.destination);
  wave.start(at);
  wave.stop(at + lasts);
}
// A voice of this machine: others send the text to their maker.
const findVoice = () => speechSynthesis.getVoices().find(({ localService, lang }) => localService && lang.startsWith("en"));
function speak(text) {
  const voice = findVoice();
  if (!voice) return;
  speechSynthesis.cancel();
  speechSynthesis.speak(Object.assign(new SpeechSynthesisUtterance(text), { voice, lang: voice.lang }));
}
const isQuiet = () => live.sound !== "you" || value("pace", "battle") > 0;
function followCoach() {  // with every frame
  const { coach } = live.header, left = value("pace", `brake_${byId("countdown-lap").value}`), corner = value("pace", "coach_corner");
  if (!coach) return;
  const due = Number.isFinite(left) ? findBeeps(countdown.left, left) : [];
  if (byId("beeps").checked && !isQuiet()) for (const [number, delay] of due) playBeep(number, delay);
  countdown.left = left > countdown.left + BEEP_EVERY || !Number.isFinite(left) ? (Number.isFinite(left) ? left : 0) : Math.min(countdown.left, left);
  const next = coach.corners[corner];
  if (corner !== countdown.corner && next && next.hint && byId("speech").checked && !isQuiet()) speak(next.hint);
  countdown.corner = corner;
}
function drawCoach() {
  const { coach } = live.header, box = byId("coach");
  box.hidden = !coach;
  if (!coach) return;
  for (const name of ["ideal", "limit"]) showDelta(byId(`delta-${name}`), value("pace", `delta_${name}`));
  for (const id of ["limit-box", "countdown", "coach-tools"]) byId(id).hidden = !coach.corners.length;
  const lit = Math.max(0, Math.ceil(BEEPS + 1 - countdown.left / BEEP_EVERY));
  [...byId("countdown").children].forEach((lamp, i) => { lamp.className = countdown.left > 0 && i < lit ? "lit" : ""; });
  const next = coach.corners[value("pace", "coach_corner")], isBattle = value("pace", "battle") > 0;
  byId("hint").textContent = next ? `${next.name}${next.hint ? `: ${next.hint}` : ""}` : "";
  byId("hint").classList.toggle("quiet", !next || !next.hint);
  for (const id of ["beeps", "speech"]) if (live.sound === "another") byId(id).checked = false;
  const line = live.sound === "another" ? "another page beeps and speaks; tick a box to take that over" : isBattle ? "another car is near: no sound"
    : byId("speech").checked && !findVoice() ? "this browser has no English voice of its own: no hints are spoken" : "";
  byId("coach-line").textContent = [coach.line, line].filter(Boolean).join("; ");
}
for (const id of ["beeps", "speech"]) {
  byId(id).onchange = () => {
    countdown.sound ??= new AudioContext();  // a browser allows sound only from here
    live.sound = byId("beeps").checked || byId("speech").checked ? "you" : "free";
    request("sound", [Number(live.sound === "you")]);
  };
}
