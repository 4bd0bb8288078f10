import { types } from 'node:util';
import { EventStoreDBClient } from '@eventstore/db-client';
import { QUERY_TIMEOUT_MS } from '../../postgres/session-settings.js';

const DEFAULTS = {
  connectionName: 'disburse',
  /** A follower may be behind: a read of one's own write could miss it. */
  nodePreference: 'leader',
  /** The timeout in seconds. It is shorter than an attempt, so that a stopped node cannot consume one. */
  gossipTimeout: '1',
} as const;

type GrpcClient = object;
type Stream = NodeJS.EventEmitter;

/** The protected members of the client's classes that its workarounds need. */
interface Internals {
  handleError: (client: GrpcClient, error: Error) => Promise<void>;
  getChannel: () => Promise<{ close: () => void }>;
  GRPCStreamCreator: (
    service: unknown,
    name: string,
    creator: (client: GrpcClient) => Stream | Promise<Stream>,
    cache?: unknown,
  ) => () => Promise<Stream>;
}

/** The connection to the server or the cluster's leader, opened on first use. */
export class Connection {
  /** The present client, which {@link reconnect} replaces. */
  client: EventStoreDBClient;
  private openedAt = performance.now();

  constructor(private readonly url: string) {
    this.client = openClient(url);
  }

  /**
   * Replaces the client by one that searches for the leader again. A client does not notice that its server is stopped.
   * All its calls then wait without a timeout for the leader or the server's features. Does nothing where a call that
   * began at `since` (`performance.now()`) used an earlier client.
   */
  reconnect(since: number): void {
    if (since < this.openedAt) return;
    const former = this.client;
    this.client = openClient(this.url);
    this.openedAt = performance.now();
    closeClient(former).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.client.dispose();
  }
}

function openClient(url: string): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(withDefaults(url));
  const internals = client as unknown as Internals;
  const { handleError, GRPCStreamCreator } = internals;
  // The client does not await this call. It rejects without a node of the cluster, which would end the process.
  internals.handleError = (grpc, error) => handleError(grpc, error).catch(() => undefined);
  internals.GRPCStreamCreator = (service, name, creator, cache) =>
    GRPCStreamCreator(
      service,
      name,
      async (grpc) => {
        const stream = await creator(grpc);
        return name === 'appendToStream' ? ignoringForgottenAppends(stream) : stream;
      },
      cache,
    );
  return client;
}

/** Closes the client once calls in flight have timed out. A read that is disposed of would end as if complete. */
async function closeClient(client: EventStoreDBClient): Promise<void> {
  setTimeout(() => void client.dispose(), QUERY_TIMEOUT_MS).unref();
  (await (client as unknown as Internals).getChannel()).close();
}

/**
 * All streams of appends in the process share one table of pending appends. An error of one stream rejects and forgets
 * the appends of every stream. A later response to one of these is a TypeError in a handler that nothing catches. Those
 * appends were rejected as unavailable and are sent again under the same ids, so the response may be ignored.
 */
function ignoringForgottenAppends(stream: Stream): Stream {
  for (const handle of stream.listeners('data') as ((response: unknown) => void)[]) {
    stream.off('data', handle);
    stream.on('data', (response: unknown) => {
      try {
        handle(response);
      } catch (error) {
        if (!types.isNativeError(error) || error.name !== 'TypeError') throw error;
      }
    });
  }
  return stream;
}

/** Adds missing options. The URL class rejects `esdb://a:2113,b:2113`. Names of options are case-insensitive. */
export function withDefaults(url: string): string {
  const [address = '', query = ''] = url.split('?', 2);
  const names = new Set(query.split('&').map((each) => each.split('=')[0]!.toLowerCase()));
  const missing = Object.entries(DEFAULTS).filter(([name]) => !names.has(name.toLowerCase()));
  const options = [query, ...missing.map((each) => each.join('='))].filter((each) => each !== '');
  return `${address.replace(/\/$/, '')}?${options.join('&')}`;
}
