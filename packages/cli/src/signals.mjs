const PARENT_CHECK_MS = 250;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Read at once: the parent may be gone before the first call. */
const parent = process.ppid;

/**
 * Until the returned function is called, SIGINT, SIGTERM and SIGHUP call `listener` and no longer end this command. npm
 * passes SIGTERM to its shell alone, which dies and leaves this command behind. Under npm, the end of the parent
 * therefore counts as a SIGTERM.
 */
export function onSignals(listener) {
  for (const signal of SIGNALS) process.on(signal, listener);
  const watch = setInterval(() => {
    if (!process.env.npm_lifecycle_event || process.ppid === parent) return;
    clearInterval(watch);
    listener('SIGTERM');
  }, PARENT_CHECK_MS).unref();
  return () => {
    clearInterval(watch);
    for (const signal of SIGNALS) process.off(signal, listener);
  };
}

/** Resolves with the first signal. Signals no longer end this command. */
export function nextSignal() {
  return new Promise((resolve) => void onSignals(resolve));
}
