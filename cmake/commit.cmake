# Usage: cmake -DSOURCE=<root> -DHEADER=<file> -DFACTS=<file> -DVERSION=.. -DCOMPILER=.. -DCUDA=.. -DMETIS=..
#              -P commit.cmake
# Writes the commit that is built into a header, and what --version of the Python tool says into a
# module; at build time and only when it changed: a commit made after configuring must not leave its
# predecessor's name in records.
cmake_minimum_required(VERSION 3.21)
find_package(Git QUIET)
set(commit "")
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} rev-parse --show-toplevel
                  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  get_filename_component(top "${top}" REALPATH)
  get_filename_component(root "${SOURCE}" REALPATH)
  if(top STREQUAL root)  # not some other project's checkout around an unpacked archive
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --always --abbrev=12 --dirty --exclude=*
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
if(commit STREQUAL "")
  file(STRINGS ${SOURCE}/cmake/commit.txt exported LIMIT_COUNT 1)
  if(exported MATCHES "^[0-9a-f]+$")
    string(SUBSTRING ${exported} 0 12 commit)
  else()
    set(commit unknown)
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define CSRKIT_COMMIT \"@commit@\"\n" @ONLY)
file(CONFIGURE OUTPUT ${FACTS} @ONLY CONTENT
     "TEXT = '(csrkit) @VERSION@\\ncommit: @commit@\\ncompiler: @COMPILER@\\nCUDA: @CUDA@\\nMETIS: @METIS@'\n")
