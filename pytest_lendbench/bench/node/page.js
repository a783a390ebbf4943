// Runs in every graded page before the page's own scripts. It lets the grader ask when the page is still (nothing moves or
// is left to paint, and it has idled), and fire the page's timers early, so that nobody has to wait for them.
(() => {
  // A timer that is further away than this is no part of an answer to a person's action.
  const LONGEST_MS = 5000;
  const { fetch, setTimeout, clearTimeout, requestAnimationFrame, requestIdleCallback } = window;

  // The timers that are still to fire, each with when that is by the page's clock, which runs ahead of the real one by
  // what was skipped.
  const pending = new Map();
  let skipped = 0;
  const clock = () => performance.now() + skipped;

  window.setTimeout = (handler, delay = 0, ...rest) => {
    const run = typeof handler === "function" ? handler : () => (0, eval)(String(handler));
    const go = () => {
      pending.delete(id);
      run(...rest);
    };
    const id = setTimeout(go, delay);
    if (!(delay > LONGEST_MS)) pending.set(id, { due: clock() + Math.max(0, Number(delay) || 0), go });
    return id;
  };
  window.clearTimeout = (id) => {
    pending.delete(id);
    clearTimeout(id);
  };
  const next = () => [...pending].sort(([, one], [, other]) => one.due - other.due)[0];
  // Fires a timer in a task of its own. One that has fired meanwhile does not stand for the next: nobody has looked since.
  const fire = (id) =>
    new Promise((resolve) => {
      setTimeout(() => {
        const timer = pending.get(id);
        try {
          if (!timer) return;
          clearTimeout(id);
          skipped += Math.max(0, timer.due - clock());
          timer.go();
        } finally {
          resolve(true);
        }
      });
    });

  const frame = () => new Promise((resolve) => requestAnimationFrame(() => resolve()));
  const idle = () => new Promise((resolve) => requestIdleCallback(() => resolve()));

  const moves = () =>
    document
      .getAnimations()
      .some((animation) => animation.playState === "running" && animation.effect?.getComputedTiming().endTime !== Infinity);

  // Resolves when the page is still, to the next timer and the ms until it is due; null: there is none.
  const still = async () => {
    const since = performance.now();
    do {
      await frame();
      await frame();
      await idle();
    } while (moves() && performance.now() - since < LONGEST_MS);
    if (pending.size === 0) return null;
    const [id, { due }] = next();
    return { id, wait: Math.max(0, due - clock()) };
  };
  // Goes the way of the page's own requests, behind them. Resolves when it has been kept from the server.
  const fence = () => fetch("/lendbench-fence").then(
    () => true,
    () => true,
  );

  // What assistive technology is told. A live region speaks if it was there before and something in it changes.
  const LIVE = "[role=alert], [role=status], [role=log], [aria-live=polite], [aria-live=assertive], output";
  let regions = new Set();
  let spoken = new Set();
  const hear = (records) => {
    for (const { target } of records)
      for (const region of regions) if (region === target || region.contains(target)) spoken.add(region);
  };
  const ear = new MutationObserver(hear);
  const said = (element) => (element?.textContent ?? "").replace(/\s+/g, " ").trim();
  const referenced = (element, attribute) =>
    (element.getAttribute(attribute) ?? "").split(/\s+/).map((id) => said(id && document.getElementById(id)));

  const watch = () => {
    ear.disconnect();
    regions = new Set(document.querySelectorAll(LIVE));
    spoken = new Set();
    for (const region of regions)
      ear.observe(region, { attributes: true, characterData: true, childList: true, subtree: true });
  };
  const described = (element) =>
    ["aria-describedby", "aria-errormessage"].flatMap((attribute) => referenced(element, attribute)).join(" ").trim();
  // How a text is announced: by a live region or by the focus; null if it isn't.
  const announced = (text) => {
    hear(ear.takeRecords());
    for (const region of spoken) if (region.isConnected && said(region).includes(text)) return "live region";
    const active = document.activeElement;
    if (!active || active === document.body) return null;
    const page = active.matches("main, html");
    if (!page && `${said(active)} ${described(active)}`.includes(text)) return "focus";
    return null;
  };

  Object.defineProperty(window, "lendbench", { value: { still, fire, fence, watch, described, announced } });
})();
