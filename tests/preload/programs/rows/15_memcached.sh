# what:  memcached: a server of several threads
# needs: memcached python3
# tier:  long
# get:   apt install memcached python3
# proof: memcached python3.11

user=
[ "$(id -u)" = 0 ] && user="-u root"
memcached $user -s "$PWD/socket" -t 4 -m 64 & server=$!
trap 'kill -9 $server 2>/dev/null || true' EXIT
until [ -S socket ]; do kill -0 $server; done
python3 - "$PWD/socket" <<'END'
import socket, sys, threading
sums = [0] * 6
def client(me):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sys.argv[1])
        f = s.makefile("rwb")
        for i in range(4000):
            value = b"v" * (i * 37 % 3000)
            f.write(b"set k%d-%d 0 0 %d\r\n%s\r\n" % (me, i % 500, len(value), value)); f.flush()
            assert f.readline() == b"STORED\r\n"
            f.write(b"get k%d-%d\r\n" % (me, i % 500)); f.flush()
            size = int(f.readline().split()[3])
            assert f.read(size + 2) == value + b"\r\n" and f.readline() == b"END\r\n"
            sums[me] += size
threads = [threading.Thread(target=client, args=(n,)) for n in range(6)]
for t in threads: t.start()
for t in threads: t.join()
print(sums)
END
kill $server
wait $server || true
