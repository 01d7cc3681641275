// Reads a text into buffers, packs, hashes and unpacks them, and counts words.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const zlib = require('zlib');

const text = fs.readFileSync(0);
const counts = new Map();
const packed = [];
let start = 0;
for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10, start)) {
  const line = Buffer.alloc(end - start);
  text.copy(line, 0, start, end);
  for (const word of line.toString('latin1').split(' ')) counts.set(word, (counts.get(word) ?? 0) + 1);
  packed.push(line);
  start = end + 1;
}
const digest = crypto.createHash('sha256');
for (let i = 0; i < packed.length; i += 16) {
  const block = zlib.deflateRawSync(Buffer.concat(packed.slice(i, i + 16)), { level: 1 });
  digest.update(zlib.inflateRawSync(block));
}
const frequent = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 50);
console.log(JSON.stringify(frequent), packed.length, digest.digest('hex'));
