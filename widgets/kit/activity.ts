/** What a person does with a page; moving the pointer across it is no use. */
const USES = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const;

/** Requests of a page that was not used for so long are sent by the page, not by the person. */
const BACKGROUND_MS = 60_000;

// Who opens a page uses it.
let last = Date.now();
if (typeof document !== 'undefined')
  for (const name of USES) document.addEventListener(name, () => (last = Date.now()), { passive: true });

/** For how many ms the page was not used. */
export function unusedMs(): number {
  return Date.now() - last;
}

/** Whether what the page requests now is no activity of the person: it keeps no session alive (docs/adr/0177). */
export function isBackground(): boolean {
  return unusedMs() > BACKGROUND_MS;
}
