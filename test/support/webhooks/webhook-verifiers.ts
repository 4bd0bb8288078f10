import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { systemProgram } from '../programs/system-program.js';

/** A message as a receiver gets it, with the secrets and the time for its verification. */
export interface Message {
  readonly secrets: readonly string[];
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** Unix seconds. */
  readonly now: number;
}

/** Distinguishes genuine messages from others. */
export interface Verifier {
  readonly name: string;
  accepts(message: Message): Promise<boolean>;
  stop(): void;
}

/** The package that receivers in Node use, which shares no code with the service. */
export const byPackage: Verifier = {
  name: 'standardwebhooks',
  accepts: async ({ secrets, headers, body, now }) => {
    // The package has no clock to hand in.
    const clock = Date.now;
    Date.now = () => now * 1000;
    try {
      return secrets.some((secret) => {
        try {
          new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false });
          return true;
        } catch {
          return false;
        }
      });
    } finally {
      Date.now = clock;
    }
  },
  stop: () => undefined,
};

/** examples/verify_webhook.py in a separate process; null without Python. */
export function byPython(): Verifier | null {
  const python = systemProgram('python3');
  return python === null ? null : new VerifierProcess('examples/verify_webhook.py', python, 'verify.py');
}

/** examples/verify-webhook.mjs in a separate process. */
export function byNode(): Verifier {
  return new VerifierProcess('examples/verify-webhook.mjs', process.execPath, 'verify.mjs');
}

/** The receiver of examples/verify_webhook.py, listening on this port. */
export function startPythonReceiver(secret: string, port: number): { output(): string; stop(): void } {
  const path = fileURLToPath(new URL('../../../examples/verify_webhook.py', import.meta.url));
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], WEBHOOK_SECRET: secret };
  const child = spawn('python3', [path, String(port)], { env });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return { output: () => said, stop: () => child.kill('SIGKILL') };
}

class VerifierProcess implements Verifier {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly responses: AsyncIterator<string>;
  private said = '';

  constructor(
    readonly name: string,
    command: string,
    script: string,
  ) {
    const path = fileURLToPath(new URL(`verifiers/${script}`, import.meta.url));
    this.child = spawn(command, [path], { env: { PATH: process.env['PATH'], HOME: process.env['HOME'] } });
    this.child.stderr.on('data', (chunk: Buffer) => (this.said += chunk.toString()));
    this.child.stdin.on('error', () => undefined);
    this.responses = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  /** One at a time. */
  async accepts({ secrets, headers, body, now }: Message): Promise<boolean> {
    this.child.stdin.write(`${JSON.stringify({ secrets, headers, body: body.toString('base64'), now })}\n`);
    const { value, done } = await this.responses.next();
    if (done) throw new Error(`${this.name} ended: ${this.said}`);
    return JSON.parse(value) === null;
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }
}
