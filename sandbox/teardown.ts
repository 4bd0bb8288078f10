/** The actions that undo a start. They run once, in reverse order, also while a part is still starting. */
export class Teardown {
  private readonly steps: (() => Promise<void>)[] = [];
  private readonly starting = new Set<Promise<unknown>>();
  private running: Promise<void> | null = null;

  add(step: () => Promise<void> | void): void {
    this.steps.push(async () => step());
  }

  /** Waits for a part to start, and registers its stop. */
  async start<T extends { stop(): Promise<void> }>(part: Promise<T>): Promise<T> {
    this.starting.add(part);
    try {
      const started = await part;
      this.add(() => started.stop());
      return started;
    } finally {
      this.starting.delete(part);
    }
  }

  /** Runs every step, also after failures. Rejects with the first failure. */
  run(): Promise<void> {
    this.running ??= this.undo();
    return this.running;
  }

  private async undo(): Promise<void> {
    await Promise.allSettled(this.starting);
    const failures: unknown[] = [];
    for (const step of this.steps.splice(0).reverse())
      await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Handles SIGTERM and SIGINT during the boot: runs the teardown and exits with 130. The service installs
   * its own handlers later.
   */
  onEarlySignal(): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const end = (): void => {
        if (process.listenerCount(signal) > 1) return;
        void this.run()
          .catch(() => undefined)
          .then(() => process.exit(130));
      };
      process.on(signal, end);
      this.add(() => {
        process.off(signal, end);
      });
    }
  }
}
