// How fast the machine is that programs run on.

#ifndef PLIMSOLL_ANALYSIS_MACHINE_SPEED_H_
#define PLIMSOLL_ANALYSIS_MACHINE_SPEED_H_

namespace plimsoll {

// What things take, in times of what they take on the machine that the estimates of run_time.h were
// fitted to.
struct MachineSpeed {
  double products = 1;     // Sums of products.
  double elementwise = 1;  // What else is computed in registers.
  double memory = 1;       // To read and write what the caches do not hold.
  double pages = 1;        // To take memory from the system.

  bool operator==(const MachineSpeed&) const = default;
};

// All are 1 until somebody has measured it, which has to be before other threads plan programs.
const MachineSpeed& SpeedOfMachine();
void SetSpeedOfMachine(const MachineSpeed& speed);

}  // namespace plimsoll

#endif  // PLIMSOLL_ANALYSIS_MACHINE_SPEED_H_
