import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';

/** A process of a test, and its output so far. */
export class TestProcess {
  output = '';
  errors = '';
  readonly child: ChildProcess;
  /** Resolves to the exit code once both streams have closed. */
  readonly ended: Promise<number | null>;

  constructor(command: string, args: readonly string[], options: SpawnOptions = {}) {
    this.child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    this.child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (this.output += chunk));
    this.child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (this.errors += chunk));
    this.ended = new Promise((resolve) => this.child.on('close', resolve));
  }

  get text(): string {
    return this.output + this.errors;
  }

  end(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.ended;
  }
}
