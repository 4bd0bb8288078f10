import { setTimeout as sleep } from 'node:timers/promises';

const KEPT_MS = 500;

/** Reads readiness or metrics of a service once earlier measurements have expired. */
export async function freshReport<T>(read: () => Promise<T>): Promise<T> {
  await sleep(KEPT_MS + 100);
  return read();
}
