// The time that a forecast asks Slurm for.
#pragma once

#include <string>

namespace csrkit {

/// "#SBATCH --time=MINUTES" for a run that is forecast to take `seconds`: twice as long, for other
/// jobs share the machine, and at most what 32 bits of minutes hold.
std::string slurm_time(double seconds);

}  // namespace csrkit
