/** The events of a person's use of a page. Moving the pointer does not count. */
const USES = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const;

/** Requests of a page that was not used for so long are sent by the page, not by the person. */
const BACKGROUND_MS = 60_000;

// The page is in use once it is loaded.
let last = Date.now();
if (typeof document !== 'undefined')
  for (const name of USES) document.addEventListener(name, () => (last = Date.now()), { passive: true });

/** Returns the milliseconds since the last use of the page. */
export function unusedMs(): number {
  return Date.now() - last;
}

/**
 * Checks whether the page's current request is no activity of the person and keeps no session alive (docs/adr/0177).
 */
export function isBackground(): boolean {
  return unusedMs() > BACKGROUND_MS;
}
