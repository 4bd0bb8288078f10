import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Credentials } from '../../../../bench/support/sign.js';

const PROGRAM = fileURLToPath(new URL('./attacker-program.ts', import.meta.url));

export interface Attack {
  readonly kind: 'unread-mismatches' | 'read-mismatches' | 'unread-pages' | 'unfinished-bodies';
  readonly port: number;
  /** The merchant whose public id is used. Its private key is used only if it is the attacker. */
  readonly merchant: Credentials;
  /** Concurrent connections, or requests per second of `read-mismatches`. */
  readonly connections: number;
  readonly addresses: number;
}

export type Report = Readonly<Record<string, number>>;

/** Attacks from another process while `work` runs. Returns its result and the attacker's counts. */
export async function during<T>(attack: Attack, work: () => Promise<T>): Promise<[T, Report]> {
  const child = fork(PROGRAM, [], {
    execArgv: ['--import', 'tsx'],
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  try {
    child.send(attack);
    const result = await work();
    const message = once(child, 'message');
    child.send('stop');
    return [result, (await message)[0] as Report];
  } finally {
    const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null;
    child.kill('SIGKILL');
    await exited;
  }
}
