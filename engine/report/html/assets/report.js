"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const themeButton = document.getElementById("theme");
  const charts = new Map();
  const axes = new Map();
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  function setTheme(dark) {
    root.dataset.theme = dark ? "dark" : "light";
    themeButton.textContent = dark ? "Light" : "Dark";
    themeButton.setAttribute("aria-pressed", String(dark));
    for (const box of charts.keys()) draw(box);
  }

  function shown(value) {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    return size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  }

  function band(bad) {
    return (plot) => {
      if (!bad) return;
      const left = plot.valToPos(bad[0], "x", true);
      const right = Math.max(plot.valToPos(bad[1], "x", true), left + 2);
      const { left: from, width, top, height } = plot.bbox;
      const a = Math.max(left, from);
      const b = Math.min(right, from + width);
      if (b <= a) return;
      plot.ctx.save();
      plot.ctx.fillStyle = colour("--band");
      plot.ctx.fillRect(a, top, b - a, height);
      if (left >= from) {
        plot.ctx.fillStyle = colour("--bad");
        plot.ctx.fillRect(left, top, 2, height);
      }
      plot.ctx.restore();
    };
  }

  // Where a step lies on the axis that is shown: the points of the curve say which iteration stands at which step.
  function placed(step, from, to) {
    if (from === to || from.length < 2) return step;
    let k = from.findIndex((x) => x >= step);
    k = k < 0 ? from.length - 1 : Math.max(k, 1);
    const part = from[k] > from[k - 1] ? (step - from[k - 1]) / (from[k] - from[k - 1]) : 0;
    return to[k - 1] + Math.min(Math.max(part, 0), 1) * (to[k] - to[k - 1]);
  }

  function axisOf(box, curve) {
    const counted = axes.get(box.dataset.run) === "i" && curve.i;
    return counted ? { x: curve.i, name: "iterations" } : { x: curve.x, name: box.dataset.axis };
  }

  // The parts of the run that rules speak of: a dashed line between two, and their names along the top.
  function parts(phases) {
    return (plot) => {
      const { left, width, top, height } = plot.bbox;
      plot.ctx.save();
      plot.ctx.strokeStyle = plot.ctx.fillStyle = colour("--muted");
      plot.ctx.lineWidth = devicePixelRatio;
      plot.ctx.lineCap = "butt"; // the library leaves what it drew with last
      plot.ctx.setLineDash([4, 4]);
      plot.ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      plot.ctx.textAlign = "center";
      plot.ctx.textBaseline = "top";
      phases.forEach(([name, from, to], k) => {
        const a = Math.max(plot.valToPos(from, "x", true), left);
        const b = Math.min(plot.valToPos(to, "x", true), left + width);
        if (b - a > plot.ctx.measureText(name).width) plot.ctx.fillText(name, (a + b) / 2, top + 2);
        if (k > 0 && a > left && a < left + width) {
          plot.ctx.beginPath();
          plot.ctx.moveTo(Math.round(a) + 0.5, top);
          plot.ctx.lineTo(Math.round(a) + 0.5, top + height);
          plot.ctx.stroke();
        }
      });
      plot.ctx.restore();
    };
  }

  function draw(box) {
    const curve = data[box.dataset.run][Number(box.dataset.index)];
    const { x, name } = axisOf(box, curve);
    const bad = curve.bad && curve.bad.map((step) => placed(step, curve.x, x));
    const phases = curve.phases.map(([part, from, to]) => [part, placed(from, curve.x, x), placed(to, curve.x, x)]);
    const state = charts.get(box) || { log: false, plot: null };
    const range = state.plot ? [state.plot.scales.x.min, state.plot.scales.x.max] : null;
    if (state.plot) state.plot.destroy();
    const values = state.log ? curve.y.map((v) => (v !== null && v > 0 ? v : null)) : curve.y;
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
    const labels = { values: (_, splits) => splits.map(shown) };
    state.plot = new uPlot({
      width: Math.max(box.clientWidth, 200),
      height: 180,
      cursor: { sync: { key: `${box.dataset.run} ${name}`, setSeries: false }, drag: { x: true, y: false } },
      scales: { x: { time: false }, y: state.log ? { distr: 3 } : {} },
      axes: [{ ...axis, ...labels }, { ...axis, ...labels, size: 70 }],
      series: [
        { label: name, value: (_, v) => shown(v) },
        { label: curve.title, stroke: colour("--accent"), width: 1.5, spanGaps: true, value: (_, v) => shown(v), points: { show: x.length < 40 } },
      ],
      hooks: { drawClear: [band(bad), parts(phases)] },
    }, [x, values], box);
    if (range && range[0] !== null) state.plot.setScale("x", { min: range[0], max: range[1] });
    charts.set(box, state);
  }

  function copy(button) {
    const source = button.parentElement.querySelector("code").textContent;
    const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy"; }, 1500); };
    const byHand = () => {
      const area = document.createElement("textarea");
      area.value = source;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      done();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(source).then(done, byHand); else byHand();
  }

  function key(cell) {
    const marked = cell.querySelector("[data-sort]");
    const value = marked ? marked.dataset.sort : cell.textContent;
    const number = Number(value);
    return value.trim() !== "" && Number.isFinite(number) ? number : value;
  }

  function sortable(table) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = cell.textContent;
      cell.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = cell.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows].map((row) => [key(row.cells[column]), row]);
        rows.sort(([a], [b]) => {
          const order = typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
          return up ? order : -order;
        });
        body.append(...rows.map(([, row]) => row));
      });
    });
  }

  document.querySelectorAll(".chart").forEach(draw);
  document.querySelectorAll("input.log").forEach((box) => box.addEventListener("change", () => {
    const chart = document.getElementById(box.dataset.chart);
    charts.get(chart).log = box.checked;
    draw(chart);
  }));
  document.querySelectorAll("button.reset").forEach((button) => button.addEventListener("click", () => {
    const chart = document.getElementById(button.dataset.chart);
    const curve = data[chart.dataset.run][Number(chart.dataset.index)];
    const { x } = axisOf(chart, curve);
    charts.get(chart).plot.setScale("x", { min: x[0], max: x[x.length - 1] });
  }));
  document.querySelectorAll("select.axis").forEach((choice) => choice.addEventListener("change", () => {
    axes.set(choice.dataset.run, choice.value);
    for (const [box, state] of charts) {
      if (box.dataset.run !== choice.dataset.run) continue;
      state.plot.destroy();
      state.plot = null; // the part that was zoomed to is one of the other axis
      draw(box);
    }
  }));
  document.querySelectorAll("button.copy").forEach((button) => button.addEventListener("click", () => copy(button)));
  document.querySelectorAll("table.sortable").forEach(sortable);
  themeButton.addEventListener("click", () => setTheme(root.dataset.theme !== "dark"));
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => { for (const box of charts.keys()) draw(box); });
  });
})();
