# what:  python3, every object from malloc
# needs: python3
# tier:  test
# get:   apt install python3
# proof: python3.11

export PYTHONMALLOC=malloc PYTHONHASHSEED=0
python3 - <<'END'
import ctypes, hashlib, itertools, json, mmap, os, random, re, sqlite3, subprocess, sys, threading, zlib

random.seed(5)
table = {str(i): [random.random() for _ in range(random.randrange(8))] for i in range(20000)}
for key in list(table)[::3]:
    del table[key]
text = json.dumps(table)
assert json.loads(text) == table
print(hashlib.sha256(text.encode()).hexdigest())
print(hashlib.sha256(zlib.compress(text.encode() * 3)).hexdigest())

results = [0] * 6
def work(me):
    mine = []
    for i in range(3000):
        mine.append(bytes([me]) * (i % 700))
        if i % 3 == 0:
            mine.pop(0)
    results[me] = sum(map(len, mine))
for _ in range(5):
    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for t in threads: t.start()
    for t in threads: t.join()
print(results)

for i in range(15):
    child = subprocess.run([sys.executable, "-S", "-c", "print(len(list(range(10000))))"],
                           capture_output=True)
    assert child.stdout == b"10000\n", child
for i in range(10):
    pid = os.fork()
    if pid == 0:
        os._exit(len([bytes(n) for n in range(2000)]) % 256)
    assert os.waitpid(pid, 0)[1] >> 8 == 2000 % 256

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.realloc.restype = ctypes.c_void_p
block = libc.malloc(ctypes.c_size_t(100))
block = libc.realloc(ctypes.c_void_p(block), ctypes.c_size_t(1 << 20))
ctypes.memset(block, 65, 1 << 20)
libc.free(ctypes.c_void_p(block))
with mmap.mmap(-1, 1 << 22) as area:
    area[:] = b"x" * (1 << 22)
    print(area.find(b"y"), len(area))

base = sqlite3.connect(":memory:")
base.execute("create table t(a, b)")
base.executemany("insert into t values (?, ?)", ((i, "v" * (i % 90)) for i in range(30000)))
print(base.execute("select count(*), sum(length(b)) from t where a % 7 = 3").fetchone())
print(len(re.findall(r"(\d+)\.(\d\d)", text)))
grown = bytearray()
for i in range(200000):
    grown += b"abc"
print(hashlib.sha256(grown).hexdigest(), sum(1 for _ in itertools.permutations(range(8))))
END
