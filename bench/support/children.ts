import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stopProcess, until } from '../../sandbox/processes.js';

interface ChildOptions {
  readonly name: string;
  readonly command?: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The folder of the log, created when missing. */
  readonly dir: string;
}

export interface Child {
  readonly pid: number;
  readonly log: string;
  exited(): string | null;
  stop(): Promise<void>;
}

/** The Node processes of a run, each with its log in a file, all ended by pid at the end. */
export class Children {
  private readonly running = new Set<Child>();

  start(options: ChildOptions): Child {
    mkdirSync(options.dir, { recursive: true });
    const log = join(options.dir, `${options.name}.log`);
    const out = openSync(log, 'a');
    const child = spawn(options.command ?? process.execPath, options.args, {
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...options.env },
      stdio: ['ignore', out, out],
    });
    closeSync(out);
    const handle = this.handle(child, log);
    this.running.add(handle);
    return handle;
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.running].map((child) => child.stop()));
  }

  private handle(child: ChildProcess, log: string): Child {
    let end: string | null = null;
    child.on('error', (error) => (end = error.message));
    child.on('exit', (code, signal) => (end ??= signal === null ? `exit code ${code}` : `signal ${signal}`));
    const handle: Child = {
      pid: child.pid ?? 0,
      log,
      exited: () => end,
      stop: async () => {
        if (end === null) {
          await stopProcess(child.pid ?? 0, [
            ['SIGTERM', 40_000],
            ['SIGKILL', 2000],
          ]);
          await until(() => end !== null, 2000);
        }
        this.running.delete(handle);
      },
    };
    return handle;
  }
}

/** Waits until the URL returns 200. The error has the child's last output if it ends or takes too long. */
export async function ready(child: Child, url: string, timeoutMs = 180_000): Promise<void> {
  const came = await until(async () => child.exited() !== null || (await responds(url)), timeoutMs);
  if (came && child.exited() === null) return;
  throw new Error(`${url} did not come up (${child.exited() ?? 'no response'}):\n${lastWords(child.log)}`);
}

export const lastWords = (log: string): string => readFileSync(log, 'utf8').slice(-3000);

async function responds(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
