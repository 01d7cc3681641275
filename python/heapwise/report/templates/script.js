"use strict";
(function () {
  const root = document.documentElement;
  const status = document.getElementById("status");

  function say(words) {
    status.textContent = words;
    setTimeout(function () { status.textContent = ""; }, 2500);
  }

  // Theme: the reader's choice, else the system's.
  const button = document.getElementById("theme");
  function stored() {
    try { return localStorage.getItem("heapwise-theme"); } catch (error) { return null; }
  }
  function paint(theme) {
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(theme === "dark"));
  }
  const system = matchMedia("(prefers-color-scheme: dark)");
  paint(stored() || (system.matches ? "dark" : "light"));
  system.addEventListener("change", function (event) {
    if (!stored()) paint(event.matches ? "dark" : "light");
  });
  button.hidden = false;
  button.addEventListener("click", function () {
    const theme = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("heapwise-theme", theme); } catch (error) { /* not kept */ }
    paint(theme);
  });

  // Tables: rows without a value stay at the end, whichever way one sorts.
  function value(row, column) {
    const cell = row.cells[column];
    const text = cell.dataset.value !== undefined ? cell.dataset.value : without_notes(cell);
    const number = text === "" ? NaN : Number(text.replace(/,/g, ""));
    return { text: text, number: number };
  }
  function without_notes(cell) {
    return Array.from(cell.childNodes).filter(function (part) {
      return part.nodeName !== "SMALL";
    }).map(function (part) { return part.textContent; }).join("").trim();
  }
  function compare(a, b) {
    if (!isNaN(a.number) && !isNaN(b.number)) return a.number - b.number;
    return a.text.localeCompare(b.text);
  }
  function sort(table, header) {
    const column = header.cellIndex;
    const ascending = header.getAttribute("aria-sort") !== "ascending";
    const body = table.tBodies[0];
    const rows = Array.from(body.rows).map(function (row) {
      return { row: row, key: value(row, column) };
    });
    rows.sort(function (a, b) {
      if ((a.key.text === "") !== (b.key.text === "")) return a.key.text === "" ? 1 : -1;
      return ascending ? compare(a.key, b.key) : compare(b.key, a.key);
    });
    rows.forEach(function (entry) { body.append(entry.row); });
    table.querySelectorAll("th[aria-sort]").forEach(function (other) {
      other.removeAttribute("aria-sort");
    });
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  }
  document.querySelectorAll("table.sortable").forEach(function (table) {
    table.querySelectorAll("thead button").forEach(function (inner) {
      inner.addEventListener("click", function () { sort(table, inner.closest("th")); });
    });
  });

  // Copying works from disk too, where the clipboard may be refused.
  function copyBySelecting(element) {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    say(document.execCommand("copy") ? "Copied" : "Selected: copy it with your keyboard");
  }
  document.querySelectorAll("button[data-copy]").forEach(function (copier) {
    copier.addEventListener("click", function () {
      const element = copier.previousElementSibling;
      if (!navigator.clipboard) return copyBySelecting(element);
      navigator.clipboard.writeText(element.textContent).then(
        function () { say("Copied"); }, function () { copyBySelecting(element); });
    });
  });

  // Data: the JSON and the Markdown are in this page, compressed. The CSV is made of the JSON, in
  // the same bytes as formats/csv_rows.py writes.
  function unpack(id) {
    const packed = atob(document.getElementById(id).textContent);
    const bytes = Uint8Array.from(packed, function (letter) { return letter.charCodeAt(0); });
    const whole = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(whole).text();
  }
  function csv(result, columns) {
    const names = ["run", "experiment", "subject"].concat(
      columns.parameters, ["quantity", "unit", "better"], columns.figures, ["values"]);
    const lines = result.rows.map(function (row) {
      const settings = columns.parameters.map(function (name) {
        return Object.prototype.hasOwnProperty.call(row.parameters, name)
          ? row.parameters[name] : null;
      });
      const figures = columns.figures.map(function (name) { return row[name]; });
      const cells = [row.experiment, row.subject].concat(
        settings, [row.parameters.quantity, row.unit, row.better], figures);
      return [columns.run].concat(cells.map(words), [row.values.join(" ")]);
    });
    return [names].concat(lines).map(function (line) {
      return line.map(quoted).join(",") + "\n";
    }).join("");
  }
  function words(value) {
    if (value === null) return "";
    if (typeof value === "boolean") return value ? "True" : "False";
    if (typeof value !== "string") return "" + value;
    return (/^[=+@\t\r-]/.test(value) ? "'" : "") + visible(value);
  }
  // As wording/visible.py.
  function visible(text) {
    const odd = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/gu;
    return text.replace(odd, function (letter) {
      if (letter === "\r") return "\\r";
      const code = letter.charCodeAt(0);
      return code < 256 ? "\\x" + code.toString(16).padStart(2, "0")
        : "\\u" + code.toString(16).padStart(4, "0");
    });
  }
  function quoted(text) {
    return /[,"\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }
  function save(text, saver) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: saver.dataset.type }));
    link.download = saver.dataset.file;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
    say("Saved " + saver.dataset.file);
  }
  document.querySelectorAll("button[data-file]").forEach(function (saver) {
    saver.addEventListener("click", function () {
      if (!window.DecompressionStream) return say("This browser is too old to unpack the data");
      unpack(saver.dataset.source).then(function (text) {
        const columns = saver.dataset.columns;
        save(columns ? csv(JSON.parse(text), JSON.parse(columns)) : text, saver);
      }).catch(function (error) { say("The data cannot be unpacked: " + error); });
    });
  });

  // On paper nothing can be opened: open it before.
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (part) { part.open = true; });
  });
})();
