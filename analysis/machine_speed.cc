#include "analysis/machine_speed.h"

namespace plimsoll {
namespace {

MachineSpeed& Speed() {
  static MachineSpeed speed;
  return speed;
}

}  // namespace

const MachineSpeed& SpeedOfMachine() { return Speed(); }

void SetSpeedOfMachine(const MachineSpeed& speed) { Speed() = speed; }

}  // namespace plimsoll
