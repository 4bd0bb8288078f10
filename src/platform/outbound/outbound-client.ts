import type { HttpResult, Limits } from './exchange.js';
import { GuardedConnector } from './guarded-connector.js';
import type { Hosts } from './guarded-hosts.js';
import { HostConnection } from './host-connection.js';

type Headers = Readonly<Record<string, string>>;

/**
 * Calls hosts over kept-alive connections. Every new connection resolves the name again, has all
 * its addresses judged and goes to an address that was judged, never to the name: a name cannot change its mind in
 * between. Redirects are not followed and responses never decompressed.
 */
export class OutboundClient {
  private readonly connector: GuardedConnector;
  private readonly connections = new Set<HostConnection>();
  /** Connections that carry nothing now, by origin; the one that was used last is used first. */
  private readonly idle = new Map<string, HostConnection[]>();

  constructor(
    hosts: Hosts,
    private readonly limits: Limits,
  ) {
    this.connector = new GuardedConnector(hosts, limits.timeoutMs);
  }

  /** POSTs and waits for the response, within the limits. Never rejects, whatever the host does. */
  post(url: string, headers: Headers, body: string): Promise<HttpResult> {
    return this.send('POST', url, headers, body);
  }

  /** GETs, like {@link post}. */
  get(url: string, headers: Headers): Promise<HttpResult> {
    return this.send('GET', url, headers, null);
  }

  /** Ends every connection with whatever is under way. */
  async close(): Promise<void> {
    await Promise.all([...this.connections].map((connection) => connection.destroy()));
  }

  private async send(
    method: 'GET' | 'POST',
    url: string,
    headers: Headers,
    body: string | null,
  ): Promise<HttpResult> {
    const parsed = URL.canParse(url) ? new URL(url) : null;
    // The parsed protocol counts: the text may say HTTPS.
    if (parsed === null || !/^https?:$/.test(parsed.protocol))
      return { kind: 'failed', phase: 'address', error: 'must be a valid URL' };
    const { origin, pathname, search } = parsed;
    const connection = this.kept(origin) ?? this.newConnection(origin);
    const result = await connection.send({ method, path: pathname + search, headers, body });
    if (connection.usable) this.keep(connection);
    else this.forget(connection);
    return result;
  }

  private newConnection(origin: string): HostConnection {
    const connection: HostConnection = new HostConnection(
      origin,
      (options, signal, doing) => this.connector.open(options, signal, doing),
      this.limits,
      () => this.forget(connection),
    );
    this.connections.add(connection);
    return connection;
  }

  private kept(origin: string): HostConnection | null {
    const idle = this.idle.get(origin);
    for (let last = idle?.pop(); last !== undefined; last = idle?.pop()) {
      if (last.usable) return last;
    }
    return null;
  }

  private keep(connection: HostConnection): void {
    const others = this.idle.get(connection.origin);
    if (others) others.push(connection);
    else this.idle.set(connection.origin, [connection]);
  }

  private forget(connection: HostConnection): void {
    void connection.destroy();
    this.connections.delete(connection);
    const idle = this.idle.get(connection.origin)?.filter((each) => each !== connection) ?? [];
    if (idle.length > 0) this.idle.set(connection.origin, idle);
    else this.idle.delete(connection.origin);
  }
}
