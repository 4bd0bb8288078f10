/** Wakes waiters in this process when something changed; a change between a check and the wait is not lost. */
export class ChangeNotifier {
  /** Grows with every change; read it before the check. */
  version = 0;
  private readonly waiting = new Set<() => void>();

  notify(): void {
    this.version += 1;
    for (const wake of [...this.waiting]) wake();
  }

  /** Resolves when something changed since `version` was read, after `ms`, or when `abort` fires. */
  async changedSince(version: number, ms: number, abort?: AbortSignal): Promise<void> {
    if (this.version !== version || abort?.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        abort?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      timer.unref();
      this.waiting.add(wake);
      abort?.addEventListener('abort', wake);
    });
  }
}
