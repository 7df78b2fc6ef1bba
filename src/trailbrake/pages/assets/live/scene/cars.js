// A car of plain shapes at its measures: body, cabin, wings, four wheels that steer and roll, a soft shadow.
import * as THREE from "../vendor/three.module.min.js";

const USUAL = { length: 4.5, width: 1.9, wheelbase: 2.7, front: 1.35, track_front: 1.62, track_rear: 1.62, height: 0.48, radius: 0.33, lock: 0.5 };
const GLASS = 0x1b242d, TYRE = 0x17181a, RIM = 0xaab0b8;

// A body from its outline seen from the side, narrower at the top.
function hull(outline, width, top) {
  const shape = new THREE.Shape(outline.map(([x, z]) => new THREE.Vector2(x, z)));
  const made = new THREE.ExtrudeGeometry(shape, { depth: width, bevelEnabled: false, steps: 1 });
  made.rotateX(Math.PI / 2);
  made.translate(0, width / 2, 0);
  const position = made.attributes.position, highest = Math.max(...outline.map(([, z]) => z)), lowest = Math.min(...outline.map(([, z]) => z));
  for (let i = 0; i < position.count; i++) {
    const share = (position.getZ(i) - lowest) / (highest - lowest);
    position.setY(i, position.getY(i) * (1 - (1 - top) * share));
  }
  made.computeVertexNormals();
  return made;
}
function shadowTexture() {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  canvas.width = 64; canvas.height = 32;
  const fade = pen.createRadialGradient(32, 16, 4, 32, 16, 30);
  fade.addColorStop(0, "rgba(0,0,0,0.55)"); fade.addColorStop(0.55, "rgba(0,0,0,0.4)"); fade.addColorStop(1, "rgba(0,0,0,0)");
  pen.fillStyle = fade; pen.fillRect(0, 0, 64, 32);
  return new THREE.CanvasTexture(canvas);
}
let shadow = null;

export class Car {
  constructor(measures, colour, ghost = false) {
    this.measures = { ...USUAL, ...(measures || {}) };
    this.group = new THREE.Group();
    this.group.rotation.order = "ZYX";
    this.body = new THREE.Group();
    this.cabin = new THREE.Group();  // what a camera inside of the car must not see
    this.wheels = [];
    this.rolled = 0;
    const solid = (hex) => new THREE.MeshLambertMaterial(ghost ? { color: hex, transparent: true, opacity: 0.38, depthWrite: false } : { color: hex });
    this.buildBody(solid, colour);
    this.buildWheels(solid);
    if (!ghost) this.buildShadow();
    this.group.add(this.body);
  }
  buildBody(solid, colour) {
    const { length, wheelbase, front, height, radius } = this.measures;
    const width = Math.min(this.measures.width, this.measures.track_rear + 0.24) * 0.97;  // the tyres show
    const nose = front + (length - wheelbase) * 0.48, tail = nose - length, floor = 0.12 - height;
    const outline = [
      [nose, floor + 0.1], [nose - 0.06, floor + 0.36], [nose - 0.9, floor + 0.56], [front * 0.35, floor + 0.68],
      [tail + 0.5, floor + 0.74], [tail + 0.04, floor + 0.7], [tail, floor + 0.28], [tail + 0.25, floor], [nose - 0.25, floor],
    ];
    const cabin = [
      [front * 0.5, floor + 0.66], [front * 0.12, floor + 1.06], [-0.55, floor + 1.1], [tail + 0.85, floor + 0.72],
    ];
    const paint = solid(colour), part = (shape, material) => { const mesh = new THREE.Mesh(shape, material); this.body.add(mesh); return mesh; };
    part(hull(outline, width * 0.97, 0.86), paint);
    const above = (shape, material) => { const mesh = new THREE.Mesh(shape, material); this.cabin.add(mesh); return mesh; };
    this.body.add(this.cabin);
    above(hull(cabin, width * 0.8, 0.78), solid(GLASS));
    const roof = above(new THREE.BoxGeometry(1.0, width * 0.6, 0.03), paint);
    roof.position.set(-0.28, 0, floor + 1.105);
    const wing = above(new THREE.BoxGeometry(0.3, width * 0.92, 0.035), solid(GLASS));
    wing.position.set(tail + 0.2, 0, floor + 1.0);
    for (const side of [-1, 1]) {
      const strut = above(new THREE.BoxGeometry(0.12, 0.04, 0.3), solid(GLASS));
      strut.position.set(tail + 0.24, side * width * 0.28, floor + 0.85);
      const lamp = part(new THREE.BoxGeometry(0.05, 0.36, 0.09), solid(0xfff4d0));
      lamp.position.set(nose - 0.13, side * width * 0.33, floor + 0.4);
    }
    this.brakeLight = new THREE.MeshBasicMaterial({ color: 0x5a0d0d });
    for (const side of [-1, 1]) part(new THREE.BoxGeometry(0.05, 0.42, 0.08), this.brakeLight).position.set(tail + 0.0, side * width * 0.3, floor + 0.55);
    this.eye = new THREE.Vector3(-0.25, width * 0.16, floor + 1.0);
    this.floor = -height;
    this.wheelHeight = radius - height;
  }
  buildWheels(solid) {
    const { wheelbase, front, track_front: trackFront, track_rear: trackRear, radius } = this.measures;
    const tyre = new THREE.CylinderGeometry(radius, radius, 0.27, 18), rim = new THREE.CylinderGeometry(radius * 0.62, radius * 0.62, 0.275, 5);
    const black = solid(TYRE), metal = solid(RIM);
    for (const [x, y] of [[front, trackFront / 2], [front, -trackFront / 2], [front - wheelbase, trackRear / 2], [front - wheelbase, -trackRear / 2]]) {
      const steered = new THREE.Group(), turning = new THREE.Group();
      turning.add(new THREE.Mesh(tyre, black), new THREE.Mesh(rim, metal));
      steered.add(turning);
      steered.position.set(x, y * 0.97, this.wheelHeight);
      this.group.add(steered);
      this.wheels.push({ steered, turning });
    }
  }
  buildShadow() {
    shadow = shadow || new THREE.MeshBasicMaterial({ map: shadowTexture(), transparent: true, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2 });
    const plane = new THREE.Mesh(new THREE.PlaneGeometry(this.measures.length * 1.18, this.measures.width * 1.5), shadow);
    plane.position.set(this.measures.front - this.measures.wheelbase / 2, 0, this.floor + 0.03);
    this.group.add(plane);
  }
  // Pose in metres and radians, ISO 8855; `steer` is the road wheels' angle, `dt` s since the last call.
  place({ x, y, z, yaw, pitch = 0, roll = 0, steer = 0, speed = 0, braking = false }, dt) {
    this.group.position.set(x, y, z);
    this.group.rotation.set(roll, pitch, yaw);
    this.rolled += (speed * dt) / this.measures.radius;
    this.wheels.forEach(({ steered, turning }, i) => {
      steered.rotation.z = i < 2 ? steer : 0;
      turning.rotation.y = this.rolled;
    });
    this.brakeLight.color.setHex(braking ? 0xff2a1a : 0x5a0d0d);
  }
}
