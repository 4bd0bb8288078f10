import { isAlive } from './processes.js';
import { SandboxError } from './sandbox-error.js';

const CHECK_EVERY_MS = 200;

/** A server of the sandbox. */
export interface Server {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

interface Part {
  readonly name: string;
  server: Server;
  restarting: boolean;
  readonly start: () => Promise<Server>;
}

/** Restarts a part of the sandbox when its process dies while the service runs. */
export class Supervisor {
  private readonly parts: Part[] = [];
  private readonly timer: NodeJS.Timeout;
  private stopped = false;

  constructor(private readonly log: (message: string) => void) {
    this.timer = setInterval(() => this.check(), CHECK_EVERY_MS);
    this.timer.unref();
  }

  /** Restarts the server by `start` when it dies. Returns a getter of the current server. */
  watch<S extends Server>(name: string, server: S, start: () => Promise<S>): () => S {
    const part = { name, server, start, restarting: false };
    this.parts.push(part);
    return () => part.server;
  }

  /** Stops restarting, and waits for restarts in flight so that no process remains. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    while (this.parts.some((part) => part.restarting))
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  private check(): void {
    for (const part of this.parts) {
      if (!this.stopped && !part.restarting && !isAlive(part.server.pid)) this.restart(part);
    }
  }

  private restart(part: Part): void {
    part.restarting = true;
    this.log(`${part.name} has stopped; starting it again`);
    part
      .start()
      .then(async (server) => {
        // The port must stay the same, because the service has it in its URL.
        if (server.port !== part.server.port) {
          await server.stop();
          throw new SandboxError(`another program uses its port ${part.server.port}`);
        }
        part.server = server;
      })
      .catch((error: Error) => this.log(`${part.name} did not come back: ${error.message}`))
      .finally(() => {
        part.restarting = false;
      });
  }
}
