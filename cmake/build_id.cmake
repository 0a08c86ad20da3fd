# Usage: cmake -DSOURCE=<root> -DHEADER=<file> -DANALYSIS_HEADER=<file> -DCOMPILER=.. -P build_id.cmake
# Writes the build id (core/base/build_id.h): a digest of the compiler and of the headers that programs,
# libcsrkit and libcsrkit_gpu share. And the analysis id (gpu/face.h): a digest of all sources that a saved analysis
# may depend on. At build time, and only what changed: the second in a header of its own, as it changes with every
# kernel and the first is compiled into every program.
cmake_minimum_required(VERSION 3.21)
file(GLOB_RECURSE headers ${SOURCE}/core/*.h)
file(GLOB gpu_headers ${SOURCE}/gpu/face.h ${SOURCE}/gpu/density/*.h ${SOURCE}/gpu/device/*.h)
list(APPEND headers ${gpu_headers})
list(SORT headers)
set(digests "${COMPILER}")
foreach(header IN LISTS headers)
  file(MD5 ${header} digest)
  string(APPEND digests "\n${digest}")
endforeach()
string(MD5 build_id "${digests}")
file(GLOB_RECURSE sources ${SOURCE}/gpu/*)
list(SORT sources)
foreach(source ${sources})
  file(MD5 ${source} digest)
  string(APPEND digests "\n${digest}")
endforeach()
string(MD5 analysis_id "${digests}")
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define CSRKIT_BUILD_ID \"@build_id@\"\n" @ONLY)
file(CONFIGURE OUTPUT ${ANALYSIS_HEADER} CONTENT "#define CSRKIT_ANALYSIS_ID \"@analysis_id@\"\n" @ONLY)
