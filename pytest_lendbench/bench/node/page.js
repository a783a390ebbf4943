// Runs in every graded page before the page's own scripts. It lets the grader ask when the page is still (nothing moves or
// is left to paint, and it has idled), and fire the page's timers early, so that nobody has to wait for them.
(() => {
  // What moves for longer than this is no part of an answer to a person's action.
  const MOVES_MS = 5000;
  const { fetch, setTimeout, clearTimeout, setInterval, clearInterval, requestAnimationFrame, requestIdleCallback } = window;

  // The timers that are still to fire, each with when that is by the page's clock, which runs ahead of the real one by
  // what was skipped. Intervals are never at an end: they count only while somebody waits for a timer.
  const timers = new Map();
  const intervals = new Map();
  let skipped = 0;
  const clock = () => performance.now() + skipped;
  const milliseconds = (delay) => Math.max(0, Number(delay) || 0);
  const code = (handler) => (typeof handler === "function" ? handler : () => (0, eval)(String(handler)));

  window.setTimeout = (handler, delay = 0, ...rest) => {
    const run = code(handler);
    const go = () => {
      timers.delete(id);
      run.apply(window, rest);
    };
    const id = setTimeout(go, delay);
    timers.set(id, { due: clock() + milliseconds(delay), delay: milliseconds(delay), go });
    return id;
  };
  window.setInterval = (handler, delay = 0, ...rest) => {
    const run = code(handler);
    const go = () => {
      const interval = intervals.get(id);
      if (interval) interval.due = clock() + milliseconds(delay);
      run.apply(window, rest);
    };
    const id = setInterval(go, delay);
    intervals.set(id, { due: clock() + milliseconds(delay), delay: milliseconds(delay), go });
    return id;
  };
  // To the browser they are one function, and an id may be a text.
  const clear = (native) => (id) => {
    timers.delete(Number(id));
    intervals.delete(Number(id));
    native(id);
  };
  window.clearTimeout = clear(clearTimeout);
  window.clearInterval = clear(clearInterval);

  // The next one of those that were set for at most so many milliseconds. Intervals without a timer: only if they count
  // `alone`.
  const next = (longest, alone) => {
    const within = (set) => [...set].filter(([, { delay }]) => delay <= longest);
    const waited = within(timers);
    if (waited.length === 0 && !alone) return null;
    return [...waited, ...within(intervals)].sort(([, one], [, other]) => one.due - other.due)[0] ?? null;
  };
  // Fires a timer of this document in a task of its own, and resolves to the ms skipped by that. One that has fired
  // meanwhile does not stand for the next: nobody has looked since.
  const fire = (id, origin) =>
    new Promise((resolve) => {
      setTimeout(() => {
        const timer = origin === performance.timeOrigin ? (timers.get(id) ?? intervals.get(id)) : undefined;
        const skips = timer ? Math.max(0, timer.due - clock()) : 0;
        try {
          if (!timer) return;
          if (timers.has(id)) clearTimeout(id);
          skipped += skips;
          timer.go();
        } finally {
          resolve(skips);
        }
      });
    });

  const frame = () => new Promise((resolve) => requestAnimationFrame(() => resolve()));
  const idle = () => new Promise((resolve) => requestIdleCallback(() => resolve()));

  const moves = () =>
    document
      .getAnimations()
      .some((animation) => animation.playState === "running" && animation.effect?.getComputedTiming().endTime !== Infinity);

  // Resolves when the page is still, to the next timer and the ms until it is due; null: there is none. What the two
  // arguments are, `next` says.
  const still = async (longest, alone) => {
    const since = performance.now();
    do {
      await frame();
      await frame();
      await idle();
    } while (moves() && performance.now() - since < MOVES_MS);
    const timer = next(longest, alone);
    if (timer === null) return null;
    const [id, { due }] = timer;
    return { id, origin: performance.timeOrigin, wait: Math.max(0, due - clock()) };
  };
  // Goes the way of the page's own requests, behind them. Resolves when it has been kept from the server.
  const fence = () => fetch("/lendbench-fence").then(
    () => true,
    () => true,
  );

  // What assistive technology is told. A live region speaks if it was there before and something in it changes.
  const LIVE = "[role=alert], [role=status], [role=log], [aria-live=polite], [aria-live=assertive], output";
  // Once said it is said, though the text may go again, as long as the region stays.
  let regions = new Set();
  let spoken = [];
  const said = (element) => (element?.textContent ?? "").replace(/\s+/g, " ").trim();
  const hear = (records) => {
    for (const { target } of records)
      for (const region of regions) if (region === target || region.contains(target)) spoken.push([region, said(region)]);
  };
  const ear = new MutationObserver(hear);
  const referenced = (element, attribute) =>
    (element.getAttribute(attribute) ?? "").split(/\s+/).map((id) => said(id && document.getElementById(id)));

  const watch = () => {
    ear.disconnect();
    regions = new Set(document.querySelectorAll(LIVE));
    spoken = [];
    for (const region of regions)
      ear.observe(region, { attributes: true, characterData: true, childList: true, subtree: true });
  };
  const described = (element) =>
    ["aria-describedby", "aria-errormessage"].flatMap((attribute) => referenced(element, attribute)).join(" ").trim();
  // How a text is announced: by a live region or by the focus; null if it isn't.
  const announced = (text) => {
    hear(ear.takeRecords());
    for (const [region, words] of spoken) if (region.isConnected && words.includes(text)) return "live region";
    const active = document.activeElement;
    if (!active || active === document.body) return null;
    const page = active.matches("main, html");
    if (!page && `${said(active)} ${described(active)}`.includes(text)) return "focus";
    return null;
  };

  Object.defineProperty(window, "lendbench", { value: Object.freeze({ still, fire, fence, watch, described, announced }) });
})();
