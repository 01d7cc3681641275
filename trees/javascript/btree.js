// Binary trees on the collector of V8.
"use strict";

const { PerformanceObserver } = require("node:perf_hooks");

const minDepth = 4;
const defaultDepth = 10;

class Tree {
  constructor(left, right) {
    this.left = left;
    this.right = right;
  }

  count() {
    return this.left === null ? 1 : 1 + this.left.count() + this.right.count();
  }
}

function make(depth) {
  return depth === 0 ? new Tree(null, null) : new Tree(make(depth - 1), make(depth - 1));
}

function treesOfDepth(depth, trees) {
  let check = 0;
  for (let i = 0; i < trees; i++) check += make(depth).count();
  console.log(`${trees}\t trees of depth ${depth}\t check: ${check}`);
}

function binaryTrees(depth) {
  console.log(`stretch tree of depth ${depth + 1}\t check: ${make(depth + 1).count()}`);
  const longLived = make(depth);
  for (let d = minDepth; d <= depth; d += 2) treesOfDepth(d, 1 << (depth - d + minDepth));
  console.log(`long lived tree of depth ${depth}\t check: ${longLived.count()}`);
}

// Entries come when the program gives way, so all of them after the trees, in a few turns.
function afterTurns(turns, act) {
  setImmediate(() => (turns === 0 ? act() : afterTurns(turns - 1, act)));
}

function tellCollections(pauses) {
  const seconds = pauses.map((entry) => entry.duration / 1e3);
  const total = seconds.reduce((sum, each) => sum + each, 0);
  const longest = seconds.reduce((most, each) => Math.max(most, each), 0);
  console.error(
    `heapwise-trees: collections=${pauses.length}` +
      ` longest_pause_s=${longest.toFixed(6)} total_pause_s=${total.toFixed(6)}`,
  );
}

const pauses = [];
const observer = new PerformanceObserver((list) => pauses.push(...list.getEntries()));
observer.observe({ entryTypes: ["gc"] });
const asked = Number.parseInt(process.argv[2] ?? `${defaultDepth}`, 10);
binaryTrees(Math.max(asked, minDepth + 2));
afterTurns(10, () => tellCollections(pauses));
