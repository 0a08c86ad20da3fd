// The device of the tests of forecasts: its prices are easy to follow by hand.
#pragma once

#include "core/facts/machine_profile.h"

namespace csrkit {

/// A read costs 1 within 1,000 bytes and 5 beyond, so t(2,000) = 3 and t(4,000) = 4.
inline DeviceProfile made_up_device() {
  DeviceProfile device;
  device.device = "cpu";
  device.memory_bytes = 1e9;
  device.copy_bytes_per_second = 1e9;
  device.private_cache_bytes = 1000;
  device.gather = {{10, 7, 7, {1000, 2000, 4000}, {1, 3, 4}, {}},
                   {30, 7, 7, {1000, 2000, 4000}, {3, 9, 12}, {}}};
  return device;
}

}  // namespace csrkit
