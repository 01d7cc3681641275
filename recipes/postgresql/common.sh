# Where Debian has the server's programs, and how root becomes a user that the server accepts.
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
PATH="${bin:-/usr/bin}:$PATH"
as_user() {
  if [ "$(id -u)" = 0 ]; then
    exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
  fi
  exec "$@"
}
