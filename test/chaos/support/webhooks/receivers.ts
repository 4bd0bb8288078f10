import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Arrived, FromReceiver, Hook, ToReceiver } from './receiver-protocol.js';

const PROGRAM = fileURLToPath(new URL('./receiver-program.ts', import.meta.url));

/** One receiver process. It responds to one question at a time. */
class ReceiverProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  static async start(): Promise<ReceiverProcess> {
    const child = fork(PROGRAM, [], {
      execArgv: ['--import', 'tsx'],
      env: { PATH: process.env['PATH'] },
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const told = await next(child);
    if (told.kind !== 'listening') throw new Error(`the receiver said ${told.kind} first`);
    return new ReceiverProcess(child, told.port);
  }

  async ask(question: ToReceiver): Promise<FromReceiver> {
    const response = next(this.child);
    this.child.send(question);
    return response;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.disconnect();
    await gone;
  }
}

/** The next thing the child says. Rejects when it ends instead. */
function next(child: ChildProcess): Promise<FromReceiver> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`a receiver process ended (${code})`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as FromReceiver);
    });
  });
}

/** What all receivers saw together. */
export interface AllSeen {
  /** By webhook-id. */
  readonly arrived: ReadonlyMap<string, Arrived>;
  readonly faults: readonly string[];
  /** The most requests open at once at one endpoint, by place. */
  readonly mostOpen: ReadonlyMap<number, number>;
}

/** Receiver processes; endpoints are dealt out to them by their place. */
export class Receivers {
  private constructor(private readonly processes: readonly ReceiverProcess[]) {}

  static async start(count: number): Promise<Receivers> {
    return new Receivers(await Promise.all(Array.from({ length: count }, () => ReceiverProcess.start())));
  }

  urlOf(place: number, host = '127.0.0.1'): string {
    return `http://${host}:${this.at(place).port}/${place}`;
  }

  /** Tells each receiver process who its endpoints are. */
  async introduce(hooks: readonly Hook[]): Promise<void> {
    await Promise.all(
      this.processes.map((each) =>
        each.ask({ kind: 'hooks', hooks: hooks.filter(({ place }) => this.at(place) === each) }),
      ),
    );
  }

  /** Different webhook-ids accepted so far. */
  async accepted(): Promise<number> {
    const counts = await Promise.all(this.processes.map((each) => each.ask({ kind: 'count' })));
    return counts.reduce((sum, each) => sum + (each.kind === 'count' ? each.accepted : 0), 0);
  }

  async seen(): Promise<AllSeen> {
    const told = await Promise.all(this.processes.map((each) => each.ask({ kind: 'seen' })));
    const all = told.flatMap((each) => (each.kind === 'seen' ? [each.seen] : []));
    return {
      arrived: new Map(all.flatMap(({ arrived }) => arrived.map((each) => [each.webhookId, each] as const))),
      faults: all.flatMap(({ faults }) => faults),
      mostOpen: new Map(
        all.flatMap(({ mostOpen }) =>
          Object.entries(mostOpen).map(([place, n]) => [Number(place), n] as const),
        ),
      ),
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((each) => each.stop()));
  }

  private at(place: number): ReceiverProcess {
    return this.processes[place % this.processes.length]!;
  }
}
