import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const MAX_RSS = 1_500_000_000;
/** The time for a failed spec to end, after which its process is killed. */
const AFTER_FAILURE_MS = 10_000;

export interface SpecResult {
  readonly failed: boolean;
  readonly timedOut: boolean;
  /** Ids of the mutants whose place was reached. */
  readonly reached: readonly string[];
  readonly ms: number;
}

interface Message {
  readonly ended?: boolean;
  readonly failed?: boolean;
  readonly reached?: readonly string[];
  readonly rss?: number;
}

/** A warm Jest process over the instrumented tree, replaced when it is killed or has become large. */
export class SpecProcess {
  private child: ChildProcess | null = null;

  constructor(
    private readonly tree: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  async run(spec: string, mutant: string | null, limitMs: number): Promise<SpecResult> {
    const child = (this.child ??= await this.start());
    const began = performance.now();
    const result = await new Promise<Omit<SpecResult, 'ms'> & { readonly keep: boolean }>((resolve) => {
      const none = { timedOut: false, reached: [], keep: false };
      const limit = setTimeout(() => resolve({ ...none, failed: true, timedOut: true }), limitMs);
      child.removeAllListeners('message').removeAllListeners('exit');
      child.on('exit', () => resolve({ ...none, failed: true }));
      child.on('message', ({ ended, failed, reached, rss }: Message) => {
        if (ended) {
          clearTimeout(limit);
          resolve({ failed: failed === true, timedOut: false, reached: reached ?? [], keep: rss! < MAX_RSS });
        } else if (failed) {
          clearTimeout(limit);
          setTimeout(() => resolve({ ...none, failed: true }), AFTER_FAILURE_MS);
        }
      });
      child.send({ spec, mutant });
    });
    if (!result.keep) this.stop();
    if (process.env['MUTANTS_DEBUG'])
      console.error(`${Math.round(performance.now() - began)} ms ${spec} ${mutant} ${result.failed}`);
    return { ...result, ms: performance.now() - began };
  }

  /** Kills the process and its descendants. */
  stop(): void {
    const pid = this.child?.pid;
    this.child = null;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The process has ended.
    }
  }

  private async start(): Promise<ChildProcess> {
    const child = fork('test/mutants/jest-process.mjs', {
      cwd: this.tree,
      env: this.env,
      execArgv: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
      stdio: process.env['MUTANTS_DEBUG'] ? 'inherit' : 'ignore',
      detached: true,
    });
    const ended = once(child, 'exit').then(() => {
      throw new Error('the process that runs the specs ended at once: MUTANTS_DEBUG=1 shows what it said');
    });
    ended.catch(() => undefined);
    await Promise.race([once(child, 'message'), ended]);
    return child;
  }
}
