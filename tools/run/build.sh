# ./run build, ./run demo

configure() { # PRESET
  # Ninja reconfigures by itself when a CMakeLists.txt changes, but does not know of the presets.
  if [[ ! -e build/$1/build.ninja || CMakePresets.json -nt build/$1/build.ninja ]]; then
    cmake --preset "$1"
  fi
}

build_preset() { # PRESET [TARGET...]
  local preset=$1
  shift
  configure "$preset"
  if [[ $# -gt 0 ]]; then
    cmake --build "build/$preset" -j "$jobs" --target "$@"
  else
    cmake --build "build/$preset" -j "$jobs"
  fi
}

preset_names() {
  sed -n '/"configurePresets"/,/"buildPresets"/s/^ *"name": "\([^"]*\)",$/\1/p' CMakePresets.json |
    grep -vxE 'base|quick'
}

command_build() {
  local preset=release start=$SECONDS
  while [[ $# -gt 0 ]]; do
    case $1 in
      --preset)
        preset=${2:?--preset needs a name}
        shift
        ;;
      --preset=*) preset=${1#*=} ;;
      *) usage_error "unknown argument: $1" build ;;
    esac
    shift
  done
  preset_names | grep -qx -- "$preset" ||
    usage_error "there is no preset $preset, only: $(preset_names | tr '\n' ' ')" build
  need_build
  [[ $preset != fuzz ]] || need_clang
  logged "build-$preset" build_preset "$preset" || die "the build $preset failed"
  say "built build/$preset ($((SECONDS - start)) s)"
}

command_demo() {
  need_build
  if [[ ! -x build/release/bunraku ]]; then
    say "building build/release/bunraku"
  fi
  logged build-release build_preset release bunraku_cli || die "the build failed"
  cd "$caller"
  exec "$root/build/release/bunraku" demo "$@"
}
