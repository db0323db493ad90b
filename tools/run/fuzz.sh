# ./run fuzz

fuzzer_names() {
  local file
  for file in fuzz/*_fuzzer.cpp; do
    [[ -f $file ]] && basename "$file" _fuzzer.cpp
  done
  return 0
}

# The models of the project and of the tests, and seeds made for this fuzzer; small ones, for speed.
copy_seeds() { # NAME FOLDER
  local folder found=()
  rm -rf "$2"
  mkdir -p "$2"
  for folder in "fuzz/seeds/$1" models tests/corpus; do
    [[ -d $folder ]] && found+=("$folder")
  done
  [[ ${#found[@]} -eq 0 ]] && return 0
  find "${found[@]}" -type f -size -64k -exec cp --backup=numbered -t "$2" {} +
}

fuzz_one() { # NAME SECONDS
  local name=$1 corpus=build/fuzz-corpus/$1 seeds=build/fuzz-seeds/$1 findings=build/fuzz-findings/$1
  local log=$logs/fuzz-$1.log status=0 arguments=()
  mkdir -p "$corpus" "$findings"
  copy_seeds "$name" "$seeds"
  [[ -f fuzz/$name.dict ]] && arguments+=("-dict=fuzz/$name.dict")
  "build/fuzz/fuzz/${name}_fuzzer" -max_total_time="$2" -rss_limit_mb=2048 -timeout=5 -print_final_stats=1 \
    -artifact_prefix="$findings/" "${arguments[@]}" "$corpus" "$seeds" >"$log" 2>&1 </dev/null || status=$?

  local executions coverage reproducer
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
  coverage=$(sed -nE 's/^.* cov: ([0-9]+) .*$/\1/p' "$log" | tail -n 1)
  if [[ $status -eq 0 ]]; then
    printf '%-20s %10s executions  coverage %6s  no findings\n' "$name" "${executions:-?}" "${coverage:-?}"
    return 0
  fi
  reproducer=$(sed -n 's/^.*Test unit written to //p' "$log" | tail -n 1)
  printf '%-20s %10s executions  coverage %6s  FOUND %s\n' "$name" "${executions:-?}" "${coverage:-?}" \
    "${reproducer:-no reproducer}"
  printf '    %s\n' "$(grep -m 1 -E 'ERROR: |runtime error: ' "$log" || echo "status $status")"
  printf '    the whole output is in %s\n' "$log"
  return 1
}

command_fuzz() {
  local seconds=60 target='' names name running=0 status=0
  while [[ $# -gt 0 ]]; do
    case $1 in
      --seconds)
        seconds=${2:?--seconds needs a number}
        shift
        ;;
      --seconds=*) seconds=${1#*=} ;;
      --target)
        target=${2:?--target needs a name}
        shift
        ;;
      --target=*) target=${1#*=} ;;
      *) usage_error "unknown argument: $1" fuzz ;;
    esac
    shift
  done
  [[ $seconds =~ ^[1-9][0-9]*$ ]] || usage_error "--seconds needs a positive whole number" fuzz
  names=$(fuzzer_names)
  [[ -n $names ]] || die "there are no fuzzers: fuzz/ has no *_fuzzer.cpp"
  if [[ -n $target ]]; then
    target=${target%_fuzzer}
    grep -qx -- "$target" <<<"$names" ||
      usage_error "there is no fuzzer $target, only: ${names//$'\n'/ }" fuzz
    names=$target
  fi

  need_build
  need_clang
  logged build-fuzz build_preset fuzz || die "the build fuzz failed"
  for name in $names; do
    if [[ $running -ge $jobs ]]; then
      wait -n || status=1
      running=$((running - 1))
    fi
    fuzz_one "$name" "$seconds" &
    running=$((running + 1))
  done
  while [[ $running -gt 0 ]]; do
    wait -n || status=1
    running=$((running - 1))
  done
  return "$status"
}
