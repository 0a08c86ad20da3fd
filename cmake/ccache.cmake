# Compilers run under ccache where it is found, unless CMAKE_<LANG>_COMPILER_LAUNCHER says otherwise.
find_program(CCACHE_PROGRAM ccache DOC "Compiler cache")
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM)
  foreach(language CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      # The first: without it nothing is cached that has precompiled headers. The second: what is not in the cache
      # is compiled at once, not preprocessed before, as Ninja has the compiler name the files it read.
      set(CMAKE_${language}_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1
          ${CCACHE_PROGRAM})
    endif()
  endforeach()
endif()
