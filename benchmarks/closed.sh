# Summary: forward dynamics of closed systems against Pinocchio and MuJoCo, cut and embedded, and its growth
set -euo pipefail

. "$BUNRAKU_SOURCE_DIR/benchmarks/support/build.sh"

choose_build "$@"
use_peers
if [[ ! -e $build/benchmarks/libbench_pinocchio_closed_without_slp.so ]]; then
  echo "compiling Pinocchio's headers, two ways, once for $build: some minutes and 5 GB of memory" >&2
fi
logged_build cmake --build "$build" --target closed_bench
"$build/benchmarks/closed_bench" "$@"

# MuJoCo's accelerations are compared with those of the command
if [[ " $* " == *" --help "* || " $* " == *" -h "* || (" $* " == *" --parts"* && "$*" != *mujoco*) ]]; then
  exit 0
fi
release=$BUNRAKU_SOURCE_DIR/build/release
[[ -e $release/build.ninja ]] || (cd "$BUNRAKU_SOURCE_DIR" && logged_build cmake --preset release)
logged_build cmake --build "$release" --target bunraku_cli
exec "$BUNRAKU_PEERS_DIR/bin/python" "$BUNRAKU_SOURCE_DIR/benchmarks/support/closed_mujoco.py" \
  --program "$release/bunraku" --source "$BUNRAKU_SOURCE_DIR" "$@"
