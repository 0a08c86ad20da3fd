# GraphBLAS::graphblas: SuiteSparse:GraphBLAS 7 or later.
find_path(GraphBLAS_INCLUDE_DIR GraphBLAS.h PATH_SUFFIXES suitesparse)
find_library(GraphBLAS_LIBRARY graphblas)
if(GraphBLAS_INCLUDE_DIR)
  file(STRINGS ${GraphBLAS_INCLUDE_DIR}/GraphBLAS.h graphblas_major REGEX "#define GxB_IMPLEMENTATION_MAJOR")
  string(REGEX MATCH "[0-9]+" GraphBLAS_VERSION "${graphblas_major}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(GraphBLAS REQUIRED_VARS GraphBLAS_LIBRARY GraphBLAS_INCLUDE_DIR
                                  VERSION_VAR GraphBLAS_VERSION)
if(GraphBLAS_FOUND AND NOT TARGET GraphBLAS::graphblas)
  add_library(GraphBLAS::graphblas UNKNOWN IMPORTED)
  set_target_properties(GraphBLAS::graphblas PROPERTIES IMPORTED_LOCATION ${GraphBLAS_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${GraphBLAS_INCLUDE_DIR})
endif()
mark_as_advanced(GraphBLAS_INCLUDE_DIR GraphBLAS_LIBRARY)
