import { deepEqual } from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { TestProcess } from './test-process.js';

export const DISBURSE = fileURLToPath(new URL('../../../packages/cli/bin/disburse.mjs', import.meta.url));

/** The output of a run of the command line. */
export interface DisburseRun {
  readonly code: number | null;
  readonly output: string;
  /** Joined to one line, because it may be wrapped. */
  readonly errors: string;
  /** Parses each line of `--json`. */
  lines<T = Record<string, unknown>>(): T[];
}

/** `disburse` as a separate process, with these variables and PATH only. */
export class Disburse {
  constructor(private readonly env: Readonly<Record<string, string>>) {}

  folder(name: string): string {
    return this.env[name]!;
  }

  with(env: Readonly<Record<string, string>>): Disburse {
    return new Disburse({ ...this.env, ...env });
  }

  async run(...args: string[]): Promise<DisburseRun> {
    const started = this.start(...args);
    const code = await started.ended;
    const { output, errors } = started;
    return {
      code,
      output,
      errors: errors.replace(/\s+/g, ' ').trim(),
      lines: <T>() =>
        output
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as T),
    };
  }

  start(...args: string[]): TestProcess {
    return new TestProcess(process.execPath, [DISBURSE, ...args], {
      env: { PATH: process.env['PATH'], ...this.env },
    });
  }
}

/** Runs `npm run admin -- ...` as the shell of the machine and returns the response. Throws if it fails. */
export async function asShell<T = Record<string, unknown>>(dataDir: string, ...args: string[]): Promise<T> {
  const run = await new Disburse({ DATA_DIR: dataDir }).run('admin', ...args, '--json');
  if (run.code !== 0) throw new Error(`admin ${args.join(' ')}: ${run.errors}`);
  return run.lines<T>()[0]!;
}

export function expectEnd({ code, errors }: DisburseRun, expected: number, words: string): void {
  deepEqual([code, errors.includes(words)], [expected, true], errors);
}
