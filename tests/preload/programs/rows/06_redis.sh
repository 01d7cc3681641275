# what:  redis: a benchmark, a snapshot by a forked child, a reload
# needs: redis-check-rdb redis-cli redis-benchmark
# tier:  test
# get:   apt install redis-tools
# proof: redis-check-rdb redis-benchmark redis-cli
# limit: 120
# Debian's redis is linked with libjemalloc2, and its tools are one file that goes by its name.

ln -s "$(command -v redis-check-rdb)" redis-server
./redis-server --port 0 --unixsocket "$PWD/s" --save '' --dir "$PWD" --daemonize no \
  --enable-debug-command yes --activedefrag no --jemalloc-bg-thread no >log 2>&1 &
server=$!
trap 'kill -9 $server 2>/dev/null || true' EXIT
ask() { redis-cli -s s "$@"; }
until [ "$(ask ping 2>/dev/null)" = PONG ]; do kill -0 $server || { cat log >&2; exit 1; }; done

redis-benchmark -s s -n 40000 -P 16 -c 20 -q -t set,get,incr,lpush,rpop,sadd,hset,zadd,mset >/dev/null
ask flushall
for i in $(seq 1 3000); do
  printf 'SET k%d %0*d\r\nHSET h%d a %d b %d\r\nZADD z %d m%d\r\nRPUSH l v%d\r\n' \
    "$i" $((i % 900 + 1)) "$i" $((i % 50)) "$i" "$i" $((i * 7 % 1000)) "$i" "$i"
done | redis-cli -s s --pipe | tail -1
for i in $(seq 1 3 3000); do printf 'DEL k%d\r\nAPPEND k%d %0*d\r\n' "$i" $((i + 1)) 500 "$i"; done |
  redis-cli -s s --pipe | tail -1
before=$(ask debug digest)
ask bgsave >/dev/null
until [ "$(ask info persistence | tr -d '\r' | sed -n 's/^rdb_bgsave_in_progress://p')" = 0 ]; do :; done
ask info persistence | tr -d '\r' | grep rdb_last_bgsave_status
ask debug reload
[ "$(ask debug digest)" = "$before" ] && echo "same after the reload"
echo "$before"
ask eval 'local t = {} for i = 1, 20000 do t[i] = tostring(i) end return #table.concat(t)' 0
ask dbsize
ask shutdown nosave || true
wait $server
