# bunraku_compile_settings(target): what all of the project's own targets are compiled with. Applied to the
# targets one by one, so that a project that takes Bunraku in with add_subdirectory keeps its own settings.

find_program(BUNRAKU_CCACHE ccache DOC "Compiler cache")
mark_as_advanced(BUNRAKU_CCACHE)

if(BUNRAKU_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "BUNRAKU_FUZZ needs libFuzzer, which comes with clang, but the compiler is "
    "${CMAKE_CXX_COMPILER_ID}: configure with -DCMAKE_CXX_COMPILER=clang++ or with the preset fuzz.")
endif()

function(bunraku_compile_settings target)
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20
    CXX_STANDARD_REQUIRED ON
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  if(BUNRAKU_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # without this it would compile anew whatever uses precompiled headers
    set_target_properties(${target} PROPERTIES
      CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${BUNRAKU_CCACHE}")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -fpch-preprocess)
    endif()
  endif()

  set(shadow -Wshadow)
  if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(shadow -Wshadow=local) # another file's names are no concern
  endif()
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic ${shadow} -Wconversion -Wnon-virtual-dtor -Wold-style-cast)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 warns where nothing is wrong: of "text" + string (GCC bug 105651), of strings in temporary aggregates and
    # of its own AVX-512 intrinsics (GCC bug 105593).
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-maybe-uninitialized)
    if(BUNRAKU_NATIVE) # of Eigen's loads and stores by them, too, behind a test that they fit
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow)
    endif()
  endif()
  if(BUNRAKU_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(BUNRAKU_NATIVE)
    target_compile_options(${target} PRIVATE -march=native)
  endif()

  set(sanitize "${BUNRAKU_SANITIZE}")
  if(BUNRAKU_FUZZ)
    set(sanitize "address,undefined")
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  if(sanitize)
    set(flags "-fsanitize=${sanitize}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
    if(sanitize STREQUAL "address,undefined")
      # These take half of the time to compile. What they find crashes under the address sanitizer or, with Eigen's
      # assertions on, is found by those.
      list(APPEND flags -fno-sanitize=null,alignment,pointer-overflow,object-size,vptr)
    endif()
    if(sanitize MATCHES "address" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      list(APPEND flags -D__SANITIZE_ADDRESS__=1) # as GCC has it
    endif()
    target_compile_options(${target} PRIVATE ${flags})
    target_link_options(${target} PRIVATE ${flags})
  endif()
endfunction()
