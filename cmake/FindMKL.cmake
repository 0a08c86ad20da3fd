# MKL::gnu: Intel oneMKL, 32-bit indices, threads by GNU OpenMP, so that it shares a team with ours.
# Found below CMAKE_PREFIX_PATH, $MKLROOT, and where `pip install mkl mkl-devel` puts it (the first
# Python on the PATH; its libraries have no plain .so names).
find_program(MKL_PYTHON NAMES python3 DOC "The Python whose packages are searched for MKL")
set(mkl_hints $ENV{MKLROOT})
if(MKL_PYTHON)
  execute_process(COMMAND ${MKL_PYTHON} -c "import sys; print(sys.prefix)" OUTPUT_VARIABLE mkl_prefix
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(APPEND mkl_hints ${mkl_prefix})
endif()
find_path(MKL_INCLUDE_DIR mkl_spblas.h HINTS ${mkl_hints} PATH_SUFFIXES include include/mkl)
foreach(part intel_lp64 gnu_thread core)
  find_library(MKL_${part}_LIBRARY NAMES mkl_${part} libmkl_${part}.so.3 libmkl_${part}.so.2 HINTS ${mkl_hints} PATH_SUFFIXES lib lib/intel64)
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MKL REQUIRED_VARS MKL_core_LIBRARY MKL_gnu_thread_LIBRARY MKL_intel_lp64_LIBRARY MKL_INCLUDE_DIR)
if(MKL_FOUND AND NOT TARGET MKL::gnu)
  add_library(MKL::gnu INTERFACE IMPORTED)
  # The threading layer calls functions that nothing else names: it must not be dropped.
  set_target_properties(MKL::gnu PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${MKL_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "-Wl,--no-as-needed;${MKL_intel_lp64_LIBRARY};${MKL_gnu_thread_LIBRARY};${MKL_core_LIBRARY};-Wl,--as-needed")
endif()
mark_as_advanced(MKL_PYTHON MKL_INCLUDE_DIR MKL_intel_lp64_LIBRARY MKL_gnu_thread_LIBRARY MKL_core_LIBRARY)
