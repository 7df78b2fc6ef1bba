"""Not run here: joins heading_hold.fmu and Car.fmu (docs/fmi.md) in OMSimulator, drives 10 s, prints the heading."""

from OMSimulator import SSP, CRef

model = SSP()
for name, file in (("driver", "heading_hold.fmu"), ("car", "Car.fmu")):
    model.addResource(file, new_name=f"resources/{file}")
    model.addComponent(CRef("default", name), f"resources/{file}")
for name in ("yaw", "speed"):
    model.addConnection(CRef("default", "car", name), CRef("default", "driver", f"state.{name}"))
for name in ("steer", "throttle", "brake"):
    model.addConnection(CRef("default", "driver", f"controls.{name}"), CRef("default", "car", name))
loop = model.instantiate()
loop.setResultFile("heading_hold.csv")
loop.initialize()
loop.simulate()
print("heading:", loop.getValue(CRef("default", "car", "yaw")), "rad")  # 0 is wanted
loop.terminate()
loop.delete()
