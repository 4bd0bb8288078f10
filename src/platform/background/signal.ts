/** Tells waiters in this process that something changed; a change between looking and waiting is not lost. */
export class Signal {
  private changes = 0;
  private readonly waiting = new Set<() => void>();

  /** Grows with every change; take it before looking. */
  get version(): number {
    return this.changes;
  }

  notify(): void {
    this.changes += 1;
    for (const wake of [...this.waiting]) wake();
  }

  /** Resolves when something changed since `version` was taken, after `ms`, or when `abort` fires. */
  async changedSince(version: number, ms: number, abort?: AbortSignal): Promise<void> {
    if (this.changes !== version || abort?.aborted) return;
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
