// Where the picture is taken from: behind the car, from its cockpit, from above, from beside the road.
import * as THREE from "../vendor/three.module.min.js";

export const CAMERAS = ["chase", "cockpit", "helicopter", "trackside"];
const FOLLOW_S = 0.18;  // s in which the chase camera follows the car's course

export class CameraPlacer {
  constructor(camera, posts) {
    this.camera = camera;
    this.posts = posts;
    this.course = null;
    this.post = null;
  }
  // `car` is a Car, `yaw` its heading (rad), `dt` s since the last call.
  place(kind, car, yaw, dt) {
    const at = car.group.position;
    const turn = this.course === null ? 0 : Math.atan2(Math.sin(yaw - this.course), Math.cos(yaw - this.course));
    this.course = this.course === null || Math.abs(turn) > 1.5 ? yaw : this.course + turn * (1 - Math.exp(-dt / FOLLOW_S));
    this[kind](at, car, yaw);
    this.camera.updateProjectionMatrix();
  }
  lookFrom(x, y, z, target, fov) {
    this.camera.position.set(x, y, z);
    this.camera.up.set(0, 0, 1);
    this.camera.fov = fov;
    this.camera.lookAt(target);
  }
  chase(at) {
    const c = Math.cos(this.course), s = Math.sin(this.course);
    this.lookFrom(at.x - 6.8 * c, at.y - 6.8 * s, at.z + 2.1, new THREE.Vector3(at.x + 5 * c, at.y + 5 * s, at.z + 0.5), 62);
  }
  cockpit(at, car) {
    car.group.updateMatrixWorld();
    const eye = car.eye.clone().applyMatrix4(car.group.matrixWorld), ahead = car.eye.clone().add(new THREE.Vector3(10, 0, -0.35)).applyMatrix4(car.group.matrixWorld);
    this.camera.position.copy(eye);
    this.camera.up.set(0, 0, 1).applyQuaternion(car.group.quaternion);
    this.camera.fov = 68;
    this.camera.lookAt(ahead);
  }
  helicopter(at) {
    const c = Math.cos(this.course), s = Math.sin(this.course);
    this.lookFrom(at.x - 26 * c, at.y - 26 * s, at.z + 34, new THREE.Vector3(at.x + 14 * c, at.y + 14 * s, at.z), 48);
  }
  // The post that is nearest ahead of the car; it keeps the car until another is clearly nearer.
  trackside(at) {
    if (!this.posts.length) { this.helicopter(at); return; }
    const c = Math.cos(this.course), s = Math.sin(this.course);
    const cost = (post) => Math.hypot(post.x - at.x - 35 * c, post.y - at.y - 35 * s);
    const nearest = this.posts.reduce((best, post) => (cost(post) < cost(best) ? post : best));
    if (!this.post || cost(nearest) < cost(this.post) - 25) this.post = nearest;
    const far = Math.hypot(this.post.x - at.x, this.post.y - at.y);
    this.lookFrom(this.post.x, this.post.y, this.post.z, at, Math.min(60, Math.max(12, (2 * Math.atan(11 / Math.max(far, 1)) * 180) / Math.PI)));
  }
}
