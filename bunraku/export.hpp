/// @file
/// The macros that mark what the shared library exports and what is always inlined.
#pragma once

/// @def BUNRAKU_API
/// Stands before each function and class that users of the library may call; all else is hidden. `BUNRAKU_STATIC` is
/// defined for a static library and for its users, `BUNRAKU_BUILDING` while the shared library itself is compiled; the
/// build system defines both.
#if defined(BUNRAKU_STATIC)
#define BUNRAKU_API
#elif defined(_WIN32)
#if defined(BUNRAKU_BUILDING)
#define BUNRAKU_API __declspec(dllexport)
#else
#define BUNRAKU_API __declspec(dllimport)
#endif
#else
#define BUNRAKU_API __attribute__((visibility("default")))
#endif

/// @def BUNRAKU_INLINE
/// Stands before functions that are always inlined, for one of two reasons. Those that take or return Eigen objects
/// must not be compiled on their own: the linker could join one compiled with the user's flags to one compiled with
/// others, and Eigen's alignment depends on the flags. And the arithmetic of the innermost loops should not: a call
/// would pass its numbers through memory, where they are wanted at once.
#if defined(__GNUC__)
#define BUNRAKU_INLINE [[gnu::always_inline]] inline
#else
#define BUNRAKU_INLINE inline
#endif
