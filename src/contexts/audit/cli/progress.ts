const FIRST_MS = 2000;
const EVERY_MS = 5000;

/** Tells on standard error, after two seconds and then every five, how far a program has read. */
export function progressOf(tell = (text: string): unknown => process.stderr.write(`${text}\n`)) {
  const began = performance.now();
  let dueAt = began + FIRST_MS;
  return (read: number, position: string): void => {
    const now = performance.now();
    if (now < dueAt) return;
    dueAt = now + EVERY_MS;
    tell(`${read} events read in ${((now - began) / 1000).toFixed(0)} s, up to position ${position}`);
  };
}
