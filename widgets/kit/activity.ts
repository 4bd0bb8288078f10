/** The DOM events that count as use of a page. Moving the pointer does not count. */
const USES = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const;

/** The idle time in ms after which the requests of a page count as automatic. */
const BACKGROUND_MS = 60_000;

// Loading the page counts as use.
let last = Date.now();
if (typeof document !== 'undefined')
  for (const name of USES) document.addEventListener(name, () => (last = Date.now()), { passive: true });

/** Returns the milliseconds since the last use of the page. */
export function unusedMs(): number {
  return Date.now() - last;
}

/** Checks that the current request is automatic, and so does not extend the session (docs/adr/0177). */
export function isBackground(): boolean {
  return unusedMs() > BACKGROUND_MS;
}
