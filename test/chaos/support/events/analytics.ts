import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One request in so many fails, before the events are taken or after. */
const FAILING = 0.02;

/** An analytics provider with Amplitude's HTTP API, which remembers whose events it was sent. */
export class AnalyticsProvider {
  /** `<merchant id> <insert_id>`, and how often it came. */
  readonly taken = new Map<string, number>();
  requests = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<AnalyticsProvider> {
    const server = createServer();
    const provider = new AnalyticsProvider(server);
    server.on('request', (request, response) => {
      // A killed process leaves half a request behind.
      text(request).then(
        (body) => provider.respond(body, response),
        () => undefined,
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/2/httpapi`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private respond(body: string, response: ServerResponse): void {
    this.requests += 1;
    const { events } = JSON.parse(body) as { events: { user_id: string; insert_id: string }[] };
    const dice = Math.random();
    if (dice < FAILING / 2) return void response.writeHead(503).end();
    for (const { user_id, insert_id } of events) {
      const key = `${user_id.split(':')[0]!} ${insert_id}`;
      this.taken.set(key, (this.taken.get(key) ?? 0) + 1);
    }
    if (dice < FAILING) return void response.socket?.destroy();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ code: 200, events_ingested: events.length }));
  }
}
