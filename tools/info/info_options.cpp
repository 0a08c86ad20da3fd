#include "tools/info/info_options.h"

#include "tools/cli/matrix_input.h"
#include "tools/cli/options.h"

namespace csrkit {

InfoToolOptions parse_info_options(int argc, const char* const* argv) {
  Options options("csr-info", "FILE.csr", 1, 1,
                  "Says what is in a .csr file: its header and the statistics of its matrix.");
  options.flag("header-only", "read nothing but the header")
      .flag("verify",
            "read and check everything, the claims of symmetry included; exit code 3 if wrong")
      .flag("locality",
            "how close entries lie to each other, and which reads of B in A * B hit the caches")
      .flag("provenance", "print where the file comes from (JSON)")
      .flag("python", "print the NumPy lines that map the arrays")
      .example("csr-info tiny.csr", "header, row lengths, symmetry, locality")
      .example("csr-info tiny.csr --locality -k 32,256", "which reads of B hit which cache?")
      .example("csr-info tiny.csr --verify", "is every byte as it was written?")
      .example("csr-info tiny.csr --python", "how to map the arrays in NumPy")
      .example("csr-info tiny.csr --spy tiny.png --pixels 100", "a picture of the pattern");
  declare_spy_options(options);
  declare_locality_options(options);
  declare_io(options);
  options.parse(argc, argv);
  InfoToolOptions result;
  result.input = options.names()[0];
  const std::pair<const char*, InfoMode> modes[] = {
      {"locality", InfoMode::locality}, {"header-only", InfoMode::header},
      {"verify", InfoMode::verify},     {"provenance", InfoMode::provenance},
      {"python", InfoMode::python},     {"spy", InfoMode::spy}};
  for (const auto& [name, mode] : modes) {
    if (!options.flag(name)) continue;
    if (result.mode != InfoMode::statistics) {
      throw UsageError(
          "--locality, --header-only, --verify, --provenance, --python and --spy exclude each "
          "other");
    }
    result.mode = mode;
  }
  for (const char* option : {"machine", "dense-cols"}) {
    if (options.given(option) && result.mode != InfoMode::locality) {
      throw UsageError("--" + std::string(option) + " is for --locality");
    }
  }
  result.locality = read_locality_options(options);
  result.picture = read_spy_options(options, result.input);
  result.read = read_options(options);
  result.as_json = options.json();
  return result;
}

}  // namespace csrkit
