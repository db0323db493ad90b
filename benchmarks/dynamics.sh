# Summary: inverse and forward dynamics, mass matrix and its inverse, against Pinocchio
set -euo pipefail

. "$BUNRAKU_SOURCE_DIR/benchmarks/support/build.sh"

choose_build "$@"
use_peers
if [[ ! -e $build/benchmarks/libbench_pinocchio.a ]]; then
  echo "compiling Pinocchio's headers, once for $build: a few minutes and 5 GB of memory" >&2
fi
logged_build cmake --build "$build" --target dynamics_bench
exec "$build/benchmarks/dynamics_bench" "$@"
