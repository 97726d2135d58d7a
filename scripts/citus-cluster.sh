#!/bin/sh
# A Citus cluster on one machine, for tests: a coordinator and workers on free ports. Citus is built for the PostgreSQL
# of Debian's packages, which are unpacked beside it: nothing outside the folder changes.
#
#   up      builds Citus if it is not built, starts every server that does not run, prints the address
#   down    stops the servers and keeps their files
#   status  says which servers run and where
#   clean   stops the servers and removes their data; what was built stays
#
# Settings, by environment:
#   CITUS_FOLDER   where everything is kept; /tmp/almanac-citus
#   CITUS_SOURCE   a folder with the unpacked source, or a git repository; https://github.com/citusdata/citus
#   CITUS_TAG      the release to take from the repository; v13.0.5
#   CITUS_WORKERS  3
#   CITUS_SPARES   servers with the extension that are no workers yet; 0
#   POSTGRES       15
#
# Needs, as root: apt-get install postgresql-15 libssl-dev libkrb5-dev liblz4-dev libzstd-dev gcc make git
set -eu

folder=${CITUS_FOLDER:-/tmp/almanac-citus}
source=${CITUS_SOURCE:-https://github.com/citusdata/citus}
tag=${CITUS_TAG:-v13.0.5}
workers=${CITUS_WORKERS:-3}
spares=${CITUS_SPARES:-0}
major=${POSTGRES:-15}
bin=$folder/postgres/usr/lib/postgresql/$major/bin
database=almanac

# PostgreSQL does not run as root.
as_owner() {
  if [ "$(id -u)" = 0 ]; then (cd "$folder" && runuser -u postgres -- "$@"); else "$@"; fi
}

# The programs of PostgreSQL find their files from where they are themselves: unpacked packages are an installation.
# All are of one version, which headers and server must share.
build() {
  if [ -e "$folder/built" ]; then return; fi
  mkdir -p "$folder/packages"
  (
    cd "$folder/packages"
    apt-get download --quiet "postgresql-$major" "postgresql-client-$major" "postgresql-server-dev-$major" libpq-dev libpq5
    for package in *.deb; do dpkg -x "$package" "$folder/postgres"; done
  )
  if [ ! -e "$folder/source/configure" ]; then
    if [ -e "$source/configure" ]; then cp -r "$source" "$folder/source"
    else git -c advice.detachedHead=false clone --quiet --depth 1 --branch "$tag" "$source" "$folder/source"; fi
  fi
  (
    cd "$folder/source"
    ./configure --quiet "PG_CONFIG=$bin/pg_config" --without-libcurl
    nice -n 19 make --silent with_llvm=no install
  )
  touch "$folder/built"
}

free_port() {
  node -e "const server = require('node:net').createServer().listen(0, '127.0.0.1', () => { console.log(server.address().port); server.close() })"
}

nodes() {
  echo coordinator
  seq -f 'worker-%g' "$((workers + spares))"
}

port_of() { cat "$folder/$1.port"; }
sql() { as_owner "$bin/psql" -XqAt -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$(port_of "$1")" -U almanac "$2" -c "$3"; }
runs() { as_owner "$bin/pg_isready" -q -U almanac -d postgres -h 127.0.0.1 -p "$(port_of "$1")"; }

start() {
  if [ ! -e "$folder/$1.port" ]; then
    mkdir -p "$folder/$1"
    if [ "$(id -u)" = 0 ]; then chown postgres "$folder/$1"; fi
    as_owner "$bin/initdb" -D "$folder/$1" -U almanac -A trust -E UTF8 --locale=C --no-sync >/dev/null
    free_port >"$folder/$1.port"
    # A server that is killed loses nothing without fsync; a machine that loses power does.
    as_owner tee -a "$folder/$1/postgresql.conf" >/dev/null <<CONF
port = $(port_of "$1")
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
shared_preload_libraries = 'citus'
max_connections = 300
max_prepared_transactions = 600
wal_level = logical
fsync = off
jit = off
citus.recover_2pc_interval = '5s'
citus.max_cached_conns_per_worker = 16
CONF
  fi
  # After a kill the memory of the old server stays for a moment: try again. On a busy machine recovery takes minutes.
  tries=0
  until runs "$1" || as_owner "$bin/pg_ctl" start -w -t 300 -s -D "$folder/$1" -l "$folder/$1/log"; do
    tries=$((tries + 1))
    [ "$tries" -lt 30 ]
    sleep 1
  done
  if [ "$(sql "$1" postgres "SELECT count(*) FROM pg_database WHERE datname = '$database'")" = 0 ]; then
    sql "$1" postgres "CREATE DATABASE $database"
    sql "$1" "$database" 'CREATE EXTENSION citus'
  fi
}

up() {
  mkdir -p "$folder"
  build
  for node in $(nodes); do start "$node"; done
  # With a copy of the reference tables of its own the coordinator asks no worker for them.
  sql coordinator "$database" "SELECT citus_set_coordinator_host('127.0.0.1', $(port_of coordinator))" >/dev/null
  for number in $(seq "$workers"); do
    sql coordinator "$database" "SELECT citus_add_node('127.0.0.1', $(port_of "worker-$number"))" >/dev/null
  done
  sql coordinator "$database" 'SELECT replicate_reference_tables()' >/dev/null
  status
}

status() {
  for node in $(nodes); do
    if [ ! -e "$folder/$node.port" ]; then echo "$node was never started"
    elif runs "$node"; then echo "$node runs at 127.0.0.1:$(port_of "$node")"
    else echo "$node does not run"; fi
  done
  if [ -e "$folder/coordinator.port" ]; then echo "postgres://almanac@127.0.0.1:$(port_of coordinator)/$database"; fi
}

down() {
  for port in "$folder"/*.port; do
    node=$(basename "$port" .port)
    if [ -e "$port" ] && runs "$node"; then as_owner "$bin/pg_ctl" stop -s -m fast -D "$folder/$node"; fi
  done
}

case ${1:-} in
  up | down | status) "$1" ;;
  clean)
    down
    for port in "$folder"/*.port; do rm -rf "$port" "${port%.port}"; done
    ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 1
    ;;
esac
