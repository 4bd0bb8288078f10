import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Credentials } from '../../../../bench/support/sign.js';

const PROGRAM = fileURLToPath(new URL('./attacker-program.ts', import.meta.url));

export interface Attack {
  readonly kind: 'unread-mismatches' | 'read-mismatches' | 'unread-pages' | 'unfinished-bodies';
  readonly port: number;
  /** Whose public id is used; its private key only where the attacker is the merchant. */
  readonly merchant: Credentials;
  /** Connections held at once; of `read-mismatches` requests per second. */
  readonly connections: number;
  /** From how many addresses they come. */
  readonly addresses: number;
}

/** What the attacker counted, by name. */
export type Report = Readonly<Record<string, number>>;

/** Attacks from another process while `work` runs; its result and the attacker's report. */
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
