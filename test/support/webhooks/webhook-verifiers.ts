import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../../../packages/sdk/src/index.js';
import { pythonOf } from '../programs/python.js';

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

/** Of this process, by the clock of the message: neither takes a time. */
function inProcess(
  name: string,
  verify: (secret: string, body: Buffer, headers: Record<string, string>) => unknown,
): Verifier {
  return {
    name,
    accepts: async ({ secrets, headers, body, now }) => {
      const clock = Date.now;
      Date.now = () => now * 1000;
      try {
        return secrets.some((secret) => {
          try {
            verify(secret, body, headers as Record<string, string>);
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
}

/** The package that receivers in Node use, which shares no code with the service. */
export const byPackage = inProcess('standardwebhooks', (secret, body, headers) =>
  new Webhook(secret).verify(body, headers, { jsonParse: false }),
);

/** The client in TypeScript. */
export const byClient = inProcess('packages/sdk', (secret, body, headers) =>
  verifyWebhook(secret, body.toString(), headers),
);

/** The client in Python, in a separate process; null without Python. */
export function byPython(): Verifier | null {
  const python = pythonOf();
  return python === null ? null : new PythonVerifier(python);
}

class PythonVerifier implements Verifier {
  readonly name = 'packages/python';
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly responses: AsyncIterator<string>;
  private said = '';

  constructor({ path, env }: { readonly path: string; readonly env: Record<string, string> }) {
    this.child = spawn(path, [fileURLToPath(new URL('verify.py', import.meta.url))], { env });
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
