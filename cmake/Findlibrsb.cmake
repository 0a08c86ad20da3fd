# librsb::rsb: recursive sparse blocks.
find_path(librsb_INCLUDE_DIR rsb.h)
find_library(librsb_LIBRARY rsb)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(librsb REQUIRED_VARS librsb_LIBRARY librsb_INCLUDE_DIR)
if(librsb_FOUND AND NOT TARGET librsb::rsb)
  add_library(librsb::rsb UNKNOWN IMPORTED)
  set_target_properties(librsb::rsb PROPERTIES IMPORTED_LOCATION ${librsb_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${librsb_INCLUDE_DIR})
endif()
mark_as_advanced(librsb_INCLUDE_DIR librsb_LIBRARY)
