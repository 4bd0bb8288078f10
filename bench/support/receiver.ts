import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { freePort } from '../../sandbox/processes.js';
import { ready } from './children.js';
import type { BenchEnvironment } from './environment.js';

const TIMEOUT_MS = 300_000;

/** What has come so far. */
export interface Received {
  readonly requests: number;
  /** Different `webhook-id`s. */
  readonly ids: number;
  /** Different paths: each endpoint has its own. */
  readonly paths: number;
  readonly sample: { readonly head: string; readonly body: string };
}

/** The process that receives the deliveries of all variants (receiver-program.ts). */
export class Receiver {
  private constructor(
    private readonly port: number,
    private readonly control: string,
  ) {}

  static async start(environment: BenchEnvironment): Promise<Receiver> {
    const [port, controlPort] = [await freePort(), await freePort()];
    const child = environment.children.start({
      name: 'receiver',
      args: ['--import', 'tsx', fileURLToPath(new URL('receiver-program.ts', import.meta.url))],
      dir: environment.folder('receiver'),
      env: { PORT: String(port), CONTROL_PORT: String(controlPort) },
    });
    const control = `http://127.0.0.1:${controlPort}`;
    await ready(child, control);
    return new Receiver(port, control);
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}/${path}`;
  }

  /** Forgets what came and expects that many requests. */
  async expect(count: number): Promise<void> {
    await this.get(`/expect?count=${count}`);
  }

  /** Resolves when the first request of the count has come. */
  first(): Promise<Received> {
    return this.get('/first');
  }

  /** Resolves when all requests of the count have come. Throws when they never do. */
  all(): Promise<Received> {
    return this.get('/all');
  }

  private async get(path: string): Promise<Received> {
    const response = await fetch(this.control + path, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return (await response.json()) as Received;
  }
}

/** Whether the request was signed with that secret, as Standard Webhooks' own library sees it. */
export function isSigned({ head, body }: Received['sample'], secret: string): boolean {
  const lines = head.split('\r\n').slice(1);
  const headers = lines.map((line) => [line.split(':')[0]!.toLowerCase(), line.slice(line.indexOf(':') + 2)]);
  try {
    new Webhook(secret).verify(body, Object.fromEntries(headers) as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
