import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import type { ReceiverAnswer, Receivers } from '../application/ports.js';
import { GuardedConnector } from './guarded-connector.js';
import { ReceiverAddresses } from './receiver-addresses.js';
import { ReceiverConnection } from './receiver-connection.js';

/** URLs that are remembered taken apart. */
const MOST_TARGETS = 10_000;

interface Target {
  readonly origin: string;
  readonly path: string;
}

/**
 * Sends deliveries over kept-alive connections. Every new connection resolves the name again, has all its addresses
 * judged and goes to an address that was judged, never to the name: a name cannot change its mind in between.
 * Redirects are not followed and answers never decompressed.
 */
@Injectable()
export class UndiciReceivers implements Receivers, OnApplicationShutdown {
  private readonly timeoutMs: number;
  private readonly connector: GuardedConnector;
  private readonly connections = new Set<ReceiverConnection>();
  /** Connections that carry nothing now, by origin; the one that was used last is used first. */
  private readonly idle = new Map<string, ReceiverConnection[]>();

  private readonly targets = new LRUCache<string, Target>({ max: MOST_TARGETS });

  constructor(@Inject(CONFIG) config: Pick<Config, 'webhookTimeoutMs'>, addresses: ReceiverAddresses) {
    this.timeoutMs = config.webhookTimeoutMs;
    this.connector = new GuardedConnector(addresses, this.timeoutMs);
  }

  async post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<ReceiverAnswer> {
    const target = this.targetOf(url);
    if (target === null) {
      return { response: { kind: 'failed', phase: 'address' }, error: 'must be a valid URL', excerpt: null };
    }
    const connection = this.kept(target.origin) ?? this.newConnection(target.origin);
    const answer = await connection.post({ path: target.path, headers, body });
    if (connection.usable) this.keep(connection);
    else this.forget(connection);
    return answer;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.connections].map((connection) => connection.destroy()));
  }

  /** Null for what cannot be sent to. The parsed protocol counts: a registered URL may say HTTPS. */
  private targetOf(url: string): Target | null {
    const known = this.targets.get(url);
    if (known !== undefined) return known;
    const parsed = URL.canParse(url) ? new URL(url) : null;
    if (parsed === null || !/^https?:$/.test(parsed.protocol)) return null;
    const target = { origin: parsed.origin, path: parsed.pathname + parsed.search };
    this.targets.set(url, target);
    return target;
  }

  private newConnection(origin: string): ReceiverConnection {
    const connection: ReceiverConnection = new ReceiverConnection(
      origin,
      (options, signal, doing) => this.connector.open(options, signal, doing),
      this.timeoutMs,
      () => this.forget(connection),
    );
    this.connections.add(connection);
    return connection;
  }

  private kept(origin: string): ReceiverConnection | null {
    const idle = this.idle.get(origin);
    for (let last = idle?.pop(); last !== undefined; last = idle?.pop()) {
      if (last.usable) return last;
    }
    return null;
  }

  private keep(connection: ReceiverConnection): void {
    const others = this.idle.get(connection.origin);
    if (others) others.push(connection);
    else this.idle.set(connection.origin, [connection]);
  }

  private forget(connection: ReceiverConnection): void {
    void connection.destroy();
    this.connections.delete(connection);
    const idle = this.idle.get(connection.origin)?.filter((each) => each !== connection) ?? [];
    if (idle.length > 0) this.idle.set(connection.origin, idle);
    else this.idle.delete(connection.origin);
  }
}
