"""Boots a stock kernel in QEMU with this machine's root shared read-only, and runs one Python script in it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

MODULES = ("virtio_pci", "9pnet_virtio", "9p", "evdev", "uinput", "joydev")
PATIENCE = 540  # s; software emulation on a busy machine
INIT = """#!/bin/busybox sh
B=/bin/busybox
$B mount -t proc proc /proc; $B mount -t sysfs sys /sys; $B mount -t devtmpfs dev /dev
for m in {modules}; do $B insmod /modules/$m || echo "no $m"; done
$B mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 host /host || echo "no host"
for d in proc sys dev; do $B mount -o bind /$d /host/$d; done
$B chroot /host /usr/bin/env -i PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={path} {python} {script}
echo "GUEST EXIT $?"
$B poweroff -f
"""


def boot(folder: Path, script: str) -> str:
    """Return what the guest's console said. `folder` is scratch."""
    kernel = Path(os.environ.get("TRAILBRAKE_KERNEL", "/"))
    (image, *_), (modules, *_) = sorted((kernel / "boot").glob("vmlinuz-*")), sorted((kernel / "lib/modules").glob("*"))
    qemu, busybox = shutil.which("qemu-system-x86_64"), shutil.which("busybox")
    assert qemu, "qemu-system-x86_64 is missing; see README.md"
    assert busybox, "busybox is missing; see README.md"
    root = folder / "initrd"
    for name in ("bin", "proc", "sys", "dev", "host", "modules"):
        (root / name).mkdir(parents=True)
    shutil.copy(busybox, root / "bin" / "busybox")
    files = needed(modules)
    for file in files:
        shutil.copy(modules / file, root / "modules" / Path(file).name)
    source = Path(__file__).resolve().parents[3] / "src"
    init = root / "init"
    init.write_text(
        INIT.format(modules=" ".join(Path(f).name for f in files), path=source, python=sys.executable, script=script)
    )
    init.chmod(0o755)
    names = "\n".join(str(p.relative_to(root)) for p in sorted(root.rglob("*")))
    archive = folder / "initrd.cpio"
    with archive.open("wb") as out:
        subprocess.run([busybox, "cpio", "-o", "-H", "newc"], cwd=root, input=names.encode(), stdout=out, check=True)
    command = [
        qemu, "-machine", "accel=tcg", "-cpu", "max", "-m", "1024", "-nographic", "-no-reboot", "-kernel", str(image),
        "-initrd", str(archive), "-append", "console=ttyS0 panic=-1 quiet",
        "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
    ]  # fmt: skip
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
    )  # fmt: skip
    return done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")


def needed(modules: Path) -> list[str]:
    """Return the files of MODULES and of what they need, in the order to load them.

    By what each says in itself: a package that was unpacked and never installed has no index of dependencies.
    """
    files = {path.name.split(".")[0].replace("-", "_"): path for path in modules.rglob("*.ko")}
    order: list[str] = []

    def add(name: str) -> None:
        path = files.get(name.replace("-", "_"))
        if path is None or str(path.relative_to(modules)) in order:  # none: built in
            return
        said = re.search(rb"\0depends=([^\0]*)\0", path.read_bytes())
        for other in said.group(1).decode().split(",") if said and said.group(1) else ():
            add(other)
        order.append(str(path.relative_to(modules)))

    for name in MODULES:
        add(name)
    return order
