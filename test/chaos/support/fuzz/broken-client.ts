import { connect } from 'node:net';
import type { BrokenHttp } from './broken-http.js';

/** A response to bytes that were written whole is here within that time, or the connection is ended from this side. */
const QUIET_MS = 250;

/** What came back until the connection was closed. */
export interface Heard {
  readonly bytes: Buffer;
  /** Milliseconds until the connection was closed; null when that took longer than the bound. */
  readonly closedAfterMs: number | null;
}

/** Writes the bytes over a connection of its own, and reads until it is closed. */
export function speak(
  { writes, silent }: BrokenHttp,
  port: number,
  from: string,
  withinMs: number,
): Promise<Heard> {
  return new Promise((resolve) => {
    const began = performance.now();
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true });
    const done = (closed: boolean): void => {
      clearTimeout(bound);
      clearTimeout(quiet);
      socket.destroy();
      resolve({ bytes: Buffer.concat(chunks), closedAfterMs: closed ? performance.now() - began : null });
    };
    const bound = setTimeout(() => done(false), withinMs);
    let quiet: NodeJS.Timeout | undefined;
    const finish = (): void => {
      clearTimeout(quiet);
      if (!silent) quiet = setTimeout(() => socket.end(), chunks.length > 0 ? 20 : QUIET_MS);
    };
    let next = 0;
    const write = (): void => {
      const bytes = writes[next++];
      if (bytes === undefined || !socket.writable) finish();
      else socket.write(bytes, () => setImmediate(write));
    };
    socket.on('connect', write);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (next > writes.length) finish();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => done(true));
  });
}
