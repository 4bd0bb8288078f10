import { createServer } from 'node:http';

/** Responds to POST /run after `work`, and to GET /health/ready. The bench starts such a program once. */
export function onRun(port: number, work: () => Promise<void>): void {
  createServer((request, response) => {
    (request.url === '/run' ? work() : Promise.resolve()).then(
      () => response.end('{}'),
      (error: Error) => response.writeHead(500).end(error.stack),
    );
  }).listen(port, '127.0.0.1');
}
