# Warnings for our own sources only, never for what includes our headers.
add_library(csrkit_warnings INTERFACE)
set(csrkit_warning_flags -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(CSRKIT_WERROR)
  list(APPEND csrkit_warning_flags -Werror)
endif()
target_compile_options(csrkit_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:${csrkit_warning_flags}>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
