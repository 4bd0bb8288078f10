/**
 * Returns the result of `work` or, after `ms` milliseconds, of `late`, which may throw. The timeout does not end the
 * work: pass it a signal, or let `late` close it.
 */
export async function withTimeout<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  return Promise.race([work, elapsed.then(late)]).finally(() => clearTimeout(timer));
}
