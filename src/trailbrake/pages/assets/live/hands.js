"use strict";
// Keyboard and gamepad. A page drives from its first key on, until it is left or Escape is pressed.
const KEYS = {
  ArrowUp: "throttle", KeyW: "throttle", ArrowDown: "brake", KeyS: "brake", ArrowLeft: "left", KeyA: "left",
  ArrowRight: "right", KeyD: "right", Space: "handbrake",
};
const DEAD_ZONE = 0.08;
// Buttons and axes of the Gamepad API's "standard" mapping.
const PAD = { steer: 0, throttle: 7, brake: 6, handbrake: 0 };
const hands = { wants: false, down: new Set(), byPad: false };

const byHand = () => live.header !== null && live.header.by_hand;
const pressed = (what) => [...hands.down].some((code) => KEYS[code] === what);
const one = (yes) => (yes ? 1 : 0);
function letGo() {
  hands.wants = hands.byPad = false;
  hands.down.clear();
}
function readPad() {
  const pads = navigator.getGamepads ? [...navigator.getGamepads()] : [];
  const pad = pads.find((p) => p && p.connected && p.mapping === "standard");
  if (!pad) return null;
  const axis = pad.axes[PAD.steer] || 0, button = (i) => (pad.buttons[i] ? pad.buttons[i].value : 0);
  const stick = Math.max(0, Math.abs(axis) - DEAD_ZONE) / (1 - DEAD_ZONE);
  // Positive is left here; a stick says -1 there. Squared: a small tilt is a fine correction.
  return { steer: -Math.sign(axis) * stick * stick, throttle: button(PAD.throttle), brake: button(PAD.brake), handbrake: button(PAD.handbrake) };
}
// What goes into an answer: wants to drive, steer, throttle, brake, handbrake, from keys.
function wishes() {
  if (!byHand()) return [0, 0, 0, 0, 0, 0];
  const pad = document.hasFocus() ? readPad() : null;
  if (pad && (Math.abs(pad.steer) > 0.05 || pad.throttle > 0.1 || pad.brake > 0.1)) hands.wants = hands.byPad = true;
  if (hands.byPad && !pad) letGo();  // it was unplugged
  if (!hands.wants) return [0, 0, 0, 0, 0, 0];
  if (hands.byPad) return [1, pad.steer, pad.throttle, pad.brake, pad.handbrake, 0];
  return [1, one(pressed("left")) - one(pressed("right")), one(pressed("throttle")), one(pressed("brake")), one(pressed("handbrake")), 1];
}
window.addEventListener("keydown", (event) => {
  if (!byHand() || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.code === "Escape") letGo();
  if (!(event.code in KEYS)) return;
  event.preventDefault();  // arrows and space would scroll the page
  hands.down.add(event.code);
  hands.wants = true;
  hands.byPad = false;
});
window.addEventListener("keyup", (event) => hands.down.delete(event.code));
// A page that is not in front hears no key being let up.
window.addEventListener("blur", letGo);
document.addEventListener("visibilitychange", () => { if (document.hidden) letGo(); });

const SEATS = {
  you: "You drive.",
  another: "Another page drives; this one watches.",
  free: "Press a key to drive.",
};
function drawHands() {
  const box = document.getElementById("hands");
  box.hidden = !byHand();
  box.classList.toggle("mine", live.seat === "you");
  document.getElementById("seat").textContent = SEATS[live.seat];
  const marks = { "↑": "ArrowUp", W: "KeyW", "↓": "ArrowDown", S: "KeyS", "←": "ArrowLeft", A: "KeyA", "→": "ArrowRight", D: "KeyD", Space: "Space" };
  for (const key of box.querySelectorAll("kbd")) key.classList.toggle("down", hands.down.has(marks[key.textContent]));
}
