import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SignedRequest } from './sign.js';

/** One response. Its seconds count from the due time of the request. */
export interface Timed {
  readonly status: number;
  readonly seconds: number;
}

interface OpenLoop {
  /** Requests per second. */
  readonly rate: number;
  /** The maximum of connections. Due requests beyond it are sent later, and their wait counts. */
  readonly connections: number;
}

const TICK_MS = 2;
const HEAD_END = '\r\n\r\n';
const QUANTILES = [0.5, 0.9, 0.99, 0.999] as const;

/**
 * Sends requests at a fixed rate, whether the service keeps up or not: the latency includes coordinated omission.
 * Throws when a connection breaks.
 */
export async function openLoop(
  baseUrl: string,
  requests: readonly SignedRequest[],
  { rate, connections }: OpenLoop,
): Promise<readonly Timed[]> {
  const { hostname, port, host } = new URL(baseUrl);
  const bytes = requests.map((request) => toBytes(host, request));
  const responses: Timed[] = [];
  const idle: Line[] = [];
  const all: Line[] = [];
  let failure: Error | null = null;
  const start = performance.now();
  const dueAtOf = (index: number): number => start + (index * 1000) / rate;
  const open = (): Line => {
    const line = new Line(connect(Number(port), hostname), (error) => (failure ??= error));
    all.push(line);
    return line;
  };
  let next = 0;
  try {
    while (responses.length < bytes.length) {
      if (failure !== null) throw failure as Error;
      for (const now = performance.now(); next < bytes.length && dueAtOf(next) <= now; next += 1) {
        const line = idle.pop() ?? (all.length < connections ? open() : null);
        if (line === null) break;
        const index = next;
        line.send(bytes[index]!, (status) => {
          responses.push({ status, seconds: (performance.now() - dueAtOf(index)) / 1000 });
          idle.push(line);
        });
      }
      await sleep(TICK_MS);
    }
    return responses;
  } finally {
    for (const line of all) line.close();
  }
}

/** The quantile `q` of the responses' seconds. */
export function quantile(responses: readonly Timed[], q: number): number {
  const sorted = responses.map(({ seconds }) => seconds).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
}

/** The number of responses and their quantiles. */
export function millis(what: string, responses: readonly Timed[]): string {
  const times = QUANTILES.map((q) => `p${q * 100} ${(quantile(responses, q) * 1000).toFixed(1)}`);
  return `${responses.length} ${what}${responses.length === 0 ? '' : `, ms ${times.join(', ')}`}`;
}

function toBytes(host: string, { method, path, headers, body }: SignedRequest): Buffer {
  const lines = Object.entries({ host, ...headers, 'content-length': String(Buffer.byteLength(body)) });
  const head = lines.map(([name, value]) => `${name}: ${value}`).join('\r\n');
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}${HEAD_END}${body}`);
}

/** A kept-alive connection with one request in progress. */
class Line {
  private received = '';
  private done: ((status: number) => void) | null = null;
  private closing = false;

  constructor(
    private readonly socket: Socket,
    failed: (error: Error) => void,
  ) {
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => this.read(chunk));
    socket.on('error', failed);
    socket.on('close', () => {
      if (!this.closing) failed(new Error('the service closed a connection'));
    });
  }

  send(bytes: Buffer, done: (status: number) => void): void {
    this.done = done;
    this.socket.write(bytes);
  }

  close(): void {
    this.closing = true;
    this.socket.destroy();
  }

  private read(chunk: string): void {
    this.received += chunk;
    const end = this.received.indexOf(HEAD_END);
    if (end === -1) return;
    const length = /^content-length: (\d+)/im.exec(this.received.slice(0, end))?.[1] ?? '0';
    if (this.received.length < end + HEAD_END.length + Number(length)) return;
    const status = Number(this.received.slice(9, 12));
    this.received = '';
    const { done } = this;
    this.done = null;
    done?.(status);
  }
}
