# Installs libcsrkit for programs outside of this tree: the library, its headers, and the files by which
# find_package(csrkit) and pkg-config find them. C needs csrkit.h alone; C++ programs may use the headers
# of the rooms as well, below include/csrkit, which is their root.
set(csrkit_headers ${CMAKE_INSTALL_INCLUDEDIR}/csrkit)
target_include_directories(csrkit PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                         $<INSTALL_INTERFACE:${csrkit_headers}>)
install(TARGETS csrkit EXPORT csrkit LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES api/csrkit.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY core DESTINATION ${csrkit_headers} FILES_MATCHING PATTERN "*.h")
# By name: a DIRECTORY would make empty folders of all that have no such header.
foreach(header export/export export/formats generate/generate import/formats import/import
               import/source/source_limits reorder/reorder transform/transform)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES preprocess/${header}.h DESTINATION ${csrkit_headers}/preprocess/${folder})
endforeach()
install(FILES cpu/common/kernels.h DESTINATION ${csrkit_headers}/cpu/common)
install(FILES gpu/face.h DESTINATION ${csrkit_headers}/gpu)
install(FILES gpu/density/summed_area_table.h DESTINATION ${csrkit_headers}/gpu/density)
install(FILES gpu/device/device_info.h gpu/device/device_clocks.h DESTINATION ${csrkit_headers}/gpu/device)
install(FILES api/reordering.h api/measured_flags.h api/rooms.h DESTINATION ${csrkit_headers}/api)

include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/csrkit)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/csrkitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/csrkitConfigVersion.cmake DESTINATION ${config_folder})
install(EXPORT csrkit NAMESPACE csrkit:: FILE csrkitConfig.cmake DESTINATION ${config_folder})

file(RELATIVE_PATH up_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/csrkit.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@up_to_prefix@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: csrkit
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Libs: -L${libdir} -lcsrkit
Cflags: -I${includedir} -I${includedir}/csrkit
]])
install(FILES ${PROJECT_BINARY_DIR}/csrkit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
