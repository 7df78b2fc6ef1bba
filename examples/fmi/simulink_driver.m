% Not run here: a Simulink model with heading_hold.fmu as a block, its inputs constant, its outputs in scopes (docs/fmi.md).
% The present folder holds heading_hold.fmu: the block takes a name on MATLAB's path, not a path.
addpath(pwd);
model = 'heading_hold_model';
new_system(model);
open_system(model);
set_param(model, 'SolverType', 'Fixed-step', 'Solver', 'FixedStepDiscrete', 'FixedStep', '0.005', 'StopTime', '2');
driver = [model '/driver'];
add_block('simulink_extras/FMU Import/FMU', driver, 'FMUName', 'heading_hold.fmu');
set_param(driver, 'FMUInputMapping', 'Flat', 'FMUOutputMapping', 'Flat', 'FMUSampleTime', '0.005');
add_block('simulink/Sources/Constant', [model '/yaw'], 'Value', '0.1');    % state.yaw, the first input
add_block('simulink/Sources/Constant', [model '/speed'], 'Value', '20');   % state.speed
add_block('simulink/Sinks/Scope', [model '/steer']);
add_block('simulink/Sinks/Scope', [model '/throttle']);
add_line(model, 'yaw/1', 'driver/1');
add_line(model, 'speed/1', 'driver/2');
add_line(model, 'driver/1', 'steer/1');     % controls.steer, the first output
add_line(model, 'driver/2', 'throttle/1');  % controls.throttle
sim(model);
