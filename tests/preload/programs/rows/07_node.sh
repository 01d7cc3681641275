# what:  nodejs: JSON, zlib, worker threads, child processes
# needs: node
# tier:  test
# get:   apt install nodejs
# proof: node

cat >main.js <<'END'
const crypto = require('crypto'), zlib = require('zlib'), { execFileSync } = require('child_process');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const hash = (x) => crypto.createHash('sha256').update(x).digest('hex');
function churn(seed) {
  const kept = [];
  for (let i = 0; i < 20000; i++) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    kept.push(Buffer.alloc(seed % 3000, i));
    if (i % 3 === 0) kept.shift();
    if (kept.length > 2000) kept.length = 500;
  }
  return hash(Buffer.concat(kept));
}
if (!isMainThread) {
  parentPort.postMessage(churn(workerData));
} else {
  const table = {};
  for (let i = 0; i < 50000; i++) table['k' + (i * 7919) % 100003] = [i, 'v'.repeat(i % 50)];
  const text = JSON.stringify(table);
  console.log(hash(text), Object.keys(JSON.parse(text)).length);
  console.log(hash(zlib.gunzipSync(zlib.gzipSync(text))), zlib.brotliCompressSync(text.slice(0, 200000), { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } }).length);
  for (let i = 0; i < 4; i++) console.log(execFileSync('/bin/echo', ['child', String(i)]).toString().trim());
  const workers = [1, 2, 3, 4, 5, 6].map((n) => new Promise((done, fail) => {
    const w = new Worker(__filename, { workerData: n });
    w.on('message', done); w.on('error', fail);
  }));
  Promise.all(workers).then((all) => console.log(all.join('\n')));
}
END
node main.js
