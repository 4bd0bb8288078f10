import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReceiverResponse } from '../../../../src/contexts/webhooks/domain/retry.js';

const SENDER = fileURLToPath(new URL('./sender.ts', import.meta.url));

/** One delivery to a URL; without one, the question how much memory there is. */
export interface Order {
  readonly id: number;
  readonly url: string | null;
}

export interface Sent {
  readonly response: ReceiverResponse;
  readonly error: string | null;
  readonly excerptBytes: number;
  readonly tookMs: number;
}

export interface Memory {
  /** Resident bytes after a garbage collection, and the most there were since the last question. */
  readonly rss: number;
  readonly peak: number;
  /** Sockets that keep the process alive: kept connections at rest do not. */
  readonly sockets: number;
}

export interface Report {
  readonly id: number;
  readonly sent?: Sent;
  readonly memory?: Memory;
}

interface Waiting {
  readonly resolve: (report: Report) => void;
  readonly reject: (error: Error) => void;
}

/** `sender.ts` in a separate process, which trusts the given authority as an operator's NODE_EXTRA_CA_CERTS says. */
export class SendingProcess {
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {
    child.on('message', (report: Report) => {
      this.waiting.get(report.id)?.resolve(report);
      this.waiting.delete(report.id);
    });
    child.on('exit', () => {
      for (const each of this.waiting.values()) each.reject(new Error('the sending process ended'));
    });
  }

  static async start(timeoutMs: number, authority: string): Promise<SendingProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'disburse-hostile-'));
    const file = join(folder, 'authority.pem');
    writeFileSync(file, authority);
    const child = fork(SENDER, [String(timeoutMs)], {
      execArgv: ['--expose-gc', '--import', 'tsx'],
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NODE_EXTRA_CA_CERTS: file },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const sender = new SendingProcess(child, folder);
    await sender.memory();
    return sender;
  }

  async post(url: string): Promise<Sent> {
    return (await this.ask(url)).sent!;
  }

  async memory(): Promise<Memory> {
    return (await this.ask(null)).memory!;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const exit = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await exit;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  private ask(url: string | null): Promise<Report> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.child.send({ id, url } satisfies Order);
    });
  }
}
