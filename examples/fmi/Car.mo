model Car "A point with a kinematic steering: what a driver's controls move"
  parameter Real wheelbase(unit = "m") = 2.6;
  parameter Real lock(unit = "rad") = 0.6 "road wheels at full steer";
  parameter Real drive(unit = "m/s2") = 4 "acceleration at full throttle";
  parameter Real braking(unit = "m/s2") = 9 "deceleration at full brake";
  parameter Real drag(unit = "1/m") = 5e-4 "deceleration by air, per square of the speed";
  input Real steer "share of full lock, positive left";
  input Real throttle;
  input Real brake;
  output Real speed(unit = "m/s", start = 15, fixed = true);
  output Real yaw(unit = "rad", start = 0.5, fixed = true);
  output Real x(unit = "m", start = 0, fixed = true);
  output Real y(unit = "m", start = 0, fixed = true);
equation
  der(speed) = drive * throttle - (if speed > 0 then braking * brake + drag * speed ^ 2 else 0);
  der(yaw) = speed * tan(lock * steer) / wheelbase;
  der(x) = speed * cos(yaw);
  der(y) = speed * sin(yaw);
end Car;
