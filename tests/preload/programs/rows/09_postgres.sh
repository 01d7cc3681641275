# what:  postgresql: a process for each client, a benchmark
# needs: su setpriv
# tier:  long
# get:   apt install postgresql-15 postgresql-contrib
# proof: postgres pgbench
# limit: 240

bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
as() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; else "$@"; fi; }
place=$(mktemp -d /tmp/heapwise-postgres-XXXXXX)
trap 'as "$bin/pg_ctl" -D "$place/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$place"' EXIT
[ "$(id -u)" = 0 ] && chown nobody "$place"
cd "$place"
# What others write to has to be where they may write.
seen=$HEAPWISE_PROBE_OUT
export HEAPWISE_PROBE_OUT=$place/seen
touch "$HEAPWISE_PROBE_OUT"
chmod 666 "$HEAPWISE_PROBE_OUT"
as "$bin/initdb" -D "$place/data" -A trust -U me --no-sync >initdb.log 2>&1 || { cat initdb.log >&2; exit 1; }
as "$bin/pg_ctl" -D "$place/data" -w -l "$place/log" -o "-c listen_addresses= -k $place -c fsync=off" start >/dev/null
ask() { as "$bin/psql" -h "$place" -U me -Atq "$@" postgres; }
as "$bin/pgbench" -h "$place" -U me -i -s 2 -q postgres >/dev/null 2>&1
as "$bin/pgbench" -h "$place" -U me -c 4 -j 2 -t 500 postgres 2>/dev/null | grep -E 'actually processed|failed'
ask -c "select sum(abalance) = (select sum(tbalance) from pgbench_tellers) from pgbench_accounts"
ask -c "create table t as select i, md5(i::text) m from generate_series(1, 200000) i; create index on t(m)"
ask -c "select count(*), min(m), max(m), md5(string_agg(m, '' order by m)) from t"
ask -c "select i % 7, count(distinct m) from t group by 1 order by 1"
ask -c "select count(*) from t a join t b on a.m = md5(b.i::text)"
as "$bin/pg_ctl" -D "$place/data" -m fast -w stop >/dev/null
cat "$HEAPWISE_PROBE_OUT" >>"$seen"
