#!/bin/sh
# Runs the suite of a Citus cluster, with a line for each test as it ends: brings the cluster of citus-cluster.sh up
# with a spare server, and stops it at the end if it did not run before. Takes arguments of vitest, such as -t "hangs".
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export CITUS_FOLDER="${CITUS_FOLDER:-/tmp/almanac-citus}" CITUS_SPARES=1
if "$here/citus-cluster.sh" status | grep -q 'coordinator runs'; then ran=1; else ran=; fi
stop() { if [ -z "$ran" ]; then "$here/citus-cluster.sh" down; fi; }
trap stop EXIT
trap 'exit 130' INT TERM
echo 'Starting the cluster; the first time it is built, which takes minutes.' >&2
"$here/citus-cluster.sh" up >&2
spare=worker-$((${CITUS_WORKERS:-3} + 1))
export ALMANAC_TEST_CITUS_URL="postgres://almanac@127.0.0.1:$(cat "$CITUS_FOLDER/coordinator.port")/almanac"
export ALMANAC_TEST_CITUS_WORKER="127.0.0.1:$(cat "$CITUS_FOLDER/$spare.port")"
# One file after the other: some of them stop workers.
npx vitest run --reporter=verbose --no-file-parallelism citus "$@"
