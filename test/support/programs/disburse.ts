import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const DISBURSE = fileURLToPath(new URL('../../../packages/cli/bin/disburse.mjs', import.meta.url));

/** The output of a run of the command line. */
export interface DisburseRun {
  readonly code: number | null;
  readonly output: string;
  /** On one line, as it may be wrapped. */
  readonly errors: string;
  /** Each line of `--json`. */
  lines<T = Record<string, unknown>>(): T[];
}

/** `disburse` as a separate process with these variables alone, and PATH. */
export class Disburse {
  constructor(private readonly env: Readonly<Record<string, string>>) {}

  /** The folder that a variable names. */
  folder(name: string): string {
    return this.env[name]!;
  }

  with(env: Readonly<Record<string, string>>): Disburse {
    return new Disburse({ ...this.env, ...env });
  }

  async run(...args: string[]): Promise<DisburseRun> {
    const { code, output, errors } = await this.start(...args).ended;
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

  /** Starts the process. Returns its output so far, and its end. */
  start(...args: string[]) {
    const env = { PATH: process.env['PATH'], ...this.env };
    const child = spawn(process.execPath, [DISBURSE, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { output: '', errors: '' };
    child.stdout.on('data', (chunk: Buffer) => (said.output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said.errors += chunk.toString()));
    const ended = new Promise<{ code: number | null; output: string; errors: string }>((resolve) =>
      child.on('close', (code) => resolve({ code, ...said })),
    );
    return { said, ended, interrupt: () => child.kill('SIGINT') };
  }
}

/** Runs `npm run admin -- ...` as the shell of the machine, which has to succeed. Returns the response. */
export async function asShell<T = Record<string, unknown>>(dataDir: string, ...args: string[]): Promise<T> {
  const run = await new Disburse({ DATA_DIR: dataDir }).run('admin', ...args, '--json');
  if (run.code !== 0) throw new Error(`admin ${args.join(' ')}: ${run.errors}`);
  return run.lines<T>()[0]!;
}
