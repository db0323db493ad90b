# The kernels, compiled for several kinds of processor: see bunraku/kernels/variant.hpp, which chooses when the library
# is loaded. Each variant is an inline namespace of the same sources, so that no two of them share a symbol.

file(GLOB bunraku_variant_sources CONFIGURE_DEPENDS
  bunraku/kernels/variants/*.cpp bunraku/operators/program/variants/*.cpp)

set(bunraku_variants baseline)
if(BUNRAKU_NATIVE)
  set(bunraku_variants native)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND bunraku_variants ${BUNRAKU_CPUS})
endif()
set(bunraku_flags_avx2 -march=x86-64-v3)
set(bunraku_flags_avx512 -march=x86-64-v4)
# Packs are copied a register at a time: what is written in halves cannot be read at once before it has reached memory.
# Of single numbers that is true the other way round. And packs are cleared and copied without string instructions, which
# take dozens of cycles to start, and wait for all lines that are on their way to memory.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND bunraku_flags_avx2 -mmove-max=256 -mstore-max=256)
  list(APPEND bunraku_flags_avx512 -mmove-max=512 -mstore-max=512)
  set(bunraku_single_sources ${bunraku_variant_sources})
  list(FILTER bunraku_single_sources INCLUDE REGEX "/(sweeps|single)_")
  set_source_files_properties(${bunraku_single_sources} PROPERTIES COMPILE_OPTIONS "-mmove-max=128;-mstore-max=128")
  set(bunraku_pack_sources ${bunraku_variant_sources})
  list(FILTER bunraku_pack_sources EXCLUDE REGEX "/(sweeps|single)_")
  set(bunraku_copy_strategy vector_loop:8192:noalign,libcall:-1:noalign)
  set_source_files_properties(${bunraku_pack_sources} PROPERTIES
    COMPILE_OPTIONS "-mmemset-strategy=${bunraku_copy_strategy};-mmemcpy-strategy=${bunraku_copy_strategy}")
endif()

# Compiling these takes longest. Their local variables are small values, mostly kept in registers, whose arrays' bounds
# the sanitizer of undefined behaviour checks: the address sanitizer sees all memory but these, in a quarter of the
# time. And the templates that are instrumented for undefined behaviour in double need not be in float.
if(BUNRAKU_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(bunraku_sanitizer_options --param asan-stack=0)
endif()
if(BUNRAKU_SANITIZE MATCHES "undefined")
  set(bunraku_float_sources ${bunraku_variant_sources})
  list(FILTER bunraku_float_sources INCLUDE REGEX "_float\\.cpp$")
  set_property(SOURCE ${bunraku_float_sources} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=undefined)
endif()

set(bunraku_variant_list "")
foreach(variant IN LISTS bunraku_variants)
  if(NOT variant MATCHES "^(baseline|native)$" AND NOT DEFINED bunraku_flags_${variant})
    message(FATAL_ERROR "BUNRAKU_CPUS names ${variant}, which is none of: avx2, avx512.")
  endif()
  set(target bunraku_kernels_${variant})
  add_library(${target} OBJECT ${bunraku_variant_sources})
  bunraku_compile_settings(${target})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE Eigen3::Eigen)
  target_compile_definitions(${target} PRIVATE BUNRAKU_VARIANT=${variant} Eigen=bunraku_eigen
    $<IF:$<BOOL:${BUILD_SHARED_LIBS}>,BUNRAKU_BUILDING,BUNRAKU_STATIC>)
  target_compile_options(${target} PRIVATE
    ${bunraku_kernel_options} ${bunraku_flags_${variant}} ${bunraku_sanitizer_options})
  target_sources(bunraku PRIVATE $<TARGET_OBJECTS:${target}>)
  string(APPEND bunraku_variant_list "X(${variant})")
endforeach()
set_source_files_properties(bunraku/kernels/variant.cpp bunraku/operators/program/block_program.cpp PROPERTIES
  COMPILE_OPTIONS "-DBUNRAKU_VARIANTS(X)=${bunraku_variant_list}")
