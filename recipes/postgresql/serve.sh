#!/bin/sh
# serve.sh FOLDER PORT
. "$(dirname "$0")/common.sh"
as_user postgres -D "$1/db" -p "$2" -k "$1" -c listen_addresses=127.0.0.1 -c fsync=off
