const PARENT_CHECK_MS = 250;

/**
 * From here on SIGINT, SIGTERM and SIGHUP no longer end this command; the first one is the result. npm hands SIGTERM to
 * its shell alone, which dies of it and would leave this command behind: under npm, a parent that is gone is a SIGTERM.
 */
export function nextSignal() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve(signal));
    if (!process.env.npm_lifecycle_event) return;
    const parent = process.ppid;
    const watch = () => process.ppid !== parent && resolve('SIGTERM');
    setInterval(watch, PARENT_CHECK_MS).unref();
  });
}
