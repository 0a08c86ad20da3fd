# Usage: cmake -DSOURCE=<root> -DHEADER=<file> -DCOMPILER=.. -P build_id.cmake
# Writes the build id (core/base/build_id.h): a digest of the compiler and of the headers that programs,
# libcsrkit and libcsrkit_gpu share. At build time, and only when it changed.
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
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define CSRKIT_BUILD_ID \"@build_id@\"\n" @ONLY)
