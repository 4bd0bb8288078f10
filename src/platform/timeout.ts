/** Returns the result of `work` or, after `ms`, of `late`, which may throw. `work` continues. */
export async function withTimeout<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  return Promise.race([work, elapsed.then(late)]).finally(() => clearTimeout(timer));
}
