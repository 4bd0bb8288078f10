import { createServer } from 'node:http';

/**
 * Serves POST of each path with its work, one response when the work is done, and GET /health/ready. For reference
 * programs that the bench starts once and runs many times.
 */
export function onRun(port: number, works: Readonly<Record<string, () => Promise<void>>>): void {
  createServer((request, response) => {
    const work = works[request.url ?? ''] ?? (async () => undefined);
    work().then(
      () => response.end('{}'),
      (error: Error) => response.writeHead(500).end(error.stack),
    );
  }).listen(port, '127.0.0.1');
}
