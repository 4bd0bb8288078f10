import { isAlive } from './processes.js';

const LOOK_EVERY_MS = 200;

interface Part {
  readonly name: string;
  pid: number;
  restarting: boolean;
  readonly restart: () => Promise<{ readonly pid: number }>;
}

/** Starts a part of the sandbox again when its process was killed under the running service. */
export class Supervisor {
  private readonly parts: Part[] = [];
  private readonly timer: NodeJS.Timeout;
  private stopped = false;

  constructor(private readonly log: (message: string) => void) {
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.timer.unref();
  }

  watch(name: string, pid: number, restart: () => Promise<{ readonly pid: number }>): void {
    this.parts.push({ name, pid, restart, restarting: false });
  }

  /** From now on processes may end. Waits for restarts under way, so that none is left behind. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    while (this.parts.some((part) => part.restarting))
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  private look(): void {
    for (const part of this.parts) {
      if (!this.stopped && !part.restarting && !isAlive(part.pid)) this.restart(part);
    }
  }

  private restart(part: Part): void {
    part.restarting = true;
    this.log(`${part.name} has stopped; starting it again`);
    part
      .restart()
      .then(({ pid }) => {
        part.pid = pid;
      })
      .catch((error: Error) => this.log(`${part.name} did not come back: ${error.message}`))
      .finally(() => {
        part.restarting = false;
      });
  }
}
