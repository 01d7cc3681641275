"use strict";
(function () {
  // A figure grows within a box that scrolls; what was in the middle stays there.
  function zoom(box, factor) {
    const figure = box.querySelector("svg");
    const now = Number(box.dataset.factor || 1);
    const next = Math.min(16, Math.max(1, now * factor));
    const middle = (box.scrollLeft + box.clientWidth / 2) / box.scrollWidth;
    box.dataset.factor = next;
    figure.style.width = 100 * next + "%";
    box.scrollLeft = middle * box.scrollWidth - box.clientWidth / 2;
  }
  document.querySelectorAll("button[data-zoom]").forEach(function (button) {
    button.hidden = false;
    const box = button.closest("section, figure").querySelector(".zoom");
    button.addEventListener("click", function () { zoom(box, Number(button.dataset.zoom)); });
  });
  document.querySelectorAll(".zoom").forEach(function (box) {
    box.addEventListener("keydown", function (event) {
      if (event.key === "+" || event.key === "=") zoom(box, 2);
      if (event.key === "-") zoom(box, 0.5);
    });
  });
})();
