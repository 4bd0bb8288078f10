import { withRunningSandbox } from '../../../sandbox/running-sandbox.js';
import { programOf, type OperatorIo } from '../../../src/operator.js';

/** What a program printed, and its exit code. */
export interface Run {
  readonly printed: string;
  readonly exitCode: number | null;
}

/** Runs an operator's program in this process. Rejects with what it throws. */
export async function invoke(program: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<Run> {
  let printed = '';
  let exitCode: number | null = null;
  const io: OperatorIo = {
    env,
    complete: withRunningSandbox,
    print: (text) => (printed += `${text}\n`),
    exit: (code) => (exitCode = code),
  };
  await (await programOf(program, io)).parseAsync(args, { from: 'user' });
  return { printed, exitCode };
}
