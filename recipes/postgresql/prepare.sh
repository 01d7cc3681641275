#!/bin/sh
# prepare.sh FOLDER CACHE PORT: a database in FOLDER/db, copied from CACHE/db, which is made first.
set -eu
. "$(dirname "$0")/common.sh"
folder=$1 cache=$2 port=$3
command -v initdb >/dev/null || { echo "initdb is not installed: apt-get install postgresql" >&2; exit 1; }
if [ "$(id -u)" = 0 ]; then
  chmod a+x "$(dirname "$folder")"
  chown postgres "$folder" "$cache"
fi
if [ ! -d "$cache/db" ]; then
  (as_user initdb -D "$cache/db" -U heapwise -A trust --no-sync >"$cache/log" 2>&1) ||
    { cat "$cache/log" >&2; exit 1; }
  (as_user postgres -D "$cache/db" -p "$port" -k "$cache" -c listen_addresses= -c fsync=off >>"$cache/log" 2>&1) &
  server=$!
  for _ in $(seq 100); do
    pgbench -h "$cache" -p "$port" -U heapwise -i -q -s 2 postgres >>"$cache/log" 2>&1 && made=yes && break
    sleep 0.1
  done
  kill -INT $server
  wait $server || true
  [ "${made:-}" = yes ] || { cat "$cache/log" >&2; rm -r "$cache/db"; exit 1; }
fi
cp -a "$cache/db" "$folder/db"
