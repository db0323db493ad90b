# Summary: time and memory against the number of bodies, for chains, stars and trees
set -euo pipefail

. "$BUNRAKU_SOURCE_DIR/benchmarks/support/build.sh"

choose_build "$@"
logged_build cmake --build "$build" --target scaling_bench
exec "$build/benchmarks/scaling_bench" "$@"
