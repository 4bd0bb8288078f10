/**
 * What `work` results in or, after so many milliseconds, what `late` returns or throws. It does not end the work: what
 * has to end takes a signal, or is closed by `late`.
 */
export async function withTimeout<T, L>(ms: number, work: Promise<T>, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  return Promise.race([work, elapsed.then(late)]).finally(() => clearTimeout(timer));
}
