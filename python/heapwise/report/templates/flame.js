"use strict";
(function () {
  const ROW = 22, NARROWEST = 0.15; // pixels; percent of the width
  const root = JSON.parse(document.getElementById("tree").textContent);
  const box = document.getElementById("flame");
  const search = document.getElementById("search");
  const words = {};
  document.querySelectorAll("button[data-measure]").forEach(function (button) {
    words[button.dataset.measure] = button.dataset.words;
  });
  const isDifference = root.o !== undefined;
  let measure = "b", chosen = root;

  (function link(node) {
    const waiting = [node];
    while (waiting.length) {
      const above = waiting.pop();
      for (const below of above.k) { below.above = above; waiting.push(below); }
    }
  })(root);

  function say(node) {
    const share = root[measure] ? (100 * node[measure] / root[measure]).toFixed(1) : "0";
    const grown = isDifference ? node.b - node.o : 0;
    const change = isDifference ? ", " + (grown < 0 ? "\u2212" : "+") +
      Math.abs(grown).toLocaleString("en") + " bytes" : "";
    return node.n + ": " + node[measure].toLocaleString("en") + " " + words[measure] + ", " + share + " %" + change;
  }
  function add(node, left, width, depth, wanted, isAbove) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = width > 2 ? node.n : "";
    button.title = say(node);
    button.setAttribute("aria-label", say(node));
    button.style.left = left + "%";
    button.style.width = width + "%";
    button.style.top = depth * ROW + "px";
    if (isDifference) button.classList.add(node.b > node.o ? "more" : node.b < node.o ? "less" : "even");
    else button.classList.toggle("odd", depth % 2 === 1);
    button.classList.toggle("above", isAbove);
    button.classList.toggle("hit", wanted !== "" && node.n.toLowerCase().includes(wanted));
    button.addEventListener("click", function () { chosen = node; draw(); });
    box.append(button);
  }
  function draw() {
    const wanted = search.value.trim().toLowerCase();
    box.textContent = "";
    const path = [];
    for (let node = chosen.above; node; node = node.above) path.unshift(node);
    path.forEach(function (node, depth) { add(node, 0, 100, depth, wanted, true); });
    let deepest = path.length;
    const waiting = [[chosen, 0, 100, path.length]];
    while (waiting.length) {
      const [node, left, width, depth] = waiting.pop();
      add(node, left, width, depth, wanted, false);
      deepest = Math.max(deepest, depth);
      let at = left;
      for (const below of node.k.slice().sort(function (x, y) { return y[measure] - x[measure]; })) {
        const part = node[measure] ? width * below[measure] / node[measure] : 0;
        if (part >= NARROWEST) waiting.push([below, at, part, depth + 1]);
        at += part;
      }
    }
    box.style.height = (deepest + 1) * ROW + "px";
    document.getElementById("told").textContent = say(chosen);
    document.getElementById("found").textContent = wanted === "" ? "" : share(wanted);
  }
  // The share below boxes whose name fits; a box below such a box is not counted again.
  function share(wanted) {
    let sum = 0;
    const waiting = [root];
    while (waiting.length) {
      const node = waiting.pop();
      if (node.n.toLowerCase().includes(wanted)) sum += node[measure];
      else waiting.push(...node.k);
    }
    return (root[measure] ? 100 * sum / root[measure] : 0).toFixed(1) + " % of the " + words[measure];
  }
  document.querySelectorAll("button[data-measure]").forEach(function (button) {
    button.addEventListener("click", function () {
      measure = button.dataset.measure;
      document.querySelectorAll("button[data-measure]").forEach(function (other) {
        other.setAttribute("aria-pressed", String(other === button));
      });
      draw();
    });
  });
  document.getElementById("reset").addEventListener("click", function () { chosen = root; draw(); });
  search.addEventListener("input", draw);
  draw();
})();
