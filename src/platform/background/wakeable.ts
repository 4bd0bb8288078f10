/**
 * Work that is done whenever somebody asks for it, one run at a time: a wake during a run starts one more after it,
 * and never a second beside it. `run` looks for everything there is to do; a lost wake is made up for by a periodic one.
 */
export class Wakeable {
  private running: Promise<void> | null = null;
  private again = false;
  private stopped = false;

  constructor(
    private readonly run: () => Promise<void>,
    private readonly onError: (error: unknown) => void,
  ) {}

  wake(): void {
    if (this.stopped) return;
    this.again = true;
    this.running ??= this.loop();
  }

  /** Takes no further wakes; resolves when the run under way has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.again = false;
    await this.running;
  }

  private async loop(): Promise<void> {
    while (this.again) {
      this.again = false;
      try {
        await this.run();
      } catch (error) {
        this.onError(error);
      }
    }
    // In the same turn as the last look at `again`, so that no wake falls between.
    this.running = null;
  }
}
