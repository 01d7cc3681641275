#!/bin/sh
# Starts a server, sends it commands, prints what it then holds, and stops it.
# Usage: serve.sh COMMANDS
set -eu
socket=redis.socket
rm -f "$socket"
redis-server --port 0 --unixsocket "$socket" --save '' --appendonly no \
  --enable-debug-command local >/dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || :; wait "$server" || :' EXIT
until redis-cli -s "$socket" ping >/dev/null 2>&1; do
  kill -0 "$server"
  sleep 0.01
done
redis-cli -s "$socket" --pipe <"$1" | grep '^errors'
redis-cli -s "$socket" dbsize
redis-cli -s "$socket" debug digest
redis-cli -s "$socket" shutdown nosave
wait "$server"
trap - EXIT
