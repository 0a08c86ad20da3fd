# Compilers run under ccache where it is found, unless CMAKE_<LANG>_COMPILER_LAUNCHER says otherwise.
find_program(CCACHE_PROGRAM ccache DOC "Compiler cache")
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM)
  foreach(language CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      # Without it nothing is cached that has precompiled headers.
      set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
          ${CCACHE_PROGRAM})
    endif()
  endforeach()
endif()
