#!/bin/sh
# Starts a server, sends it commands, prints what it then holds, and stops it.
# Usage: serve.sh COMMANDS
set -eu
socket=redis.socket
rm -f "$socket" log
mkfifo log
redis-server --port 0 --unixsocket "$socket" --save '' --appendonly no \
  --enable-debug-command local >log &
server=$!
trap 'kill "$server" 2>/dev/null || :; wait "$server" || :' EXIT
# Without asking again and again: every run starts the same processes.
exec 3<log
while read -r line <&3; do
  case $line in *'eady to accept connections'*) break ;; esac
done
redis-cli -s "$socket" --pipe <"$1" | grep '^errors'
redis-cli -s "$socket" dbsize
redis-cli -s "$socket" debug digest
redis-cli -s "$socket" shutdown nosave
wait "$server"
trap - EXIT
