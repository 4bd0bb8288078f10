import { types } from 'node:util';
import { EventStoreDBClient } from '@eventstore/db-client';
import { QUERY_TIMEOUT_MS } from '../../postgres/session-settings.js';

const DEFAULTS = {
  connectionName: 'disburse',
  /** A follower may lag, so that a process could miss its own write. */
  nodePreference: 'leader',
  /** The timeout in seconds, shorter than an attempt, so that a stopped node cannot use up the attempt. */
  gossipTimeout: '1',
} as const;

type GrpcClient = object;
type Stream = NodeJS.EventEmitter;

/** The protected members of the client that the workarounds below need. */
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
  client: EventStoreDBClient;
  private openedAt = performance.now();

  constructor(private readonly url: string) {
    this.client = openClient(url);
  }

  /**
   * Replaces the client by a new one that finds the leader, because calls to a stopped server never end.
   * Does nothing if the call that began at `since` (`performance.now()`) used an earlier client.
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
  // The client does not await this promise, whose rejection would end the process.
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

/** Closes the channel now, and the client after all timeouts, because a disposed read would seem complete. */
async function closeClient(client: EventStoreDBClient): Promise<void> {
  setTimeout(() => void client.dispose(), QUERY_TIMEOUT_MS).unref();
  (await (client as unknown as Internals).getChannel()).close();
}

/**
 * Ignores responses to forgotten appends. An error of one append stream makes the client forget the appends
 * of all streams, and throw a TypeError at later responses. The appends are sent again.
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

/** Adds the options that the address lacks in any letter case. Avoids URL, which rejects `esdb://a:1,b:1`. */
export function withDefaults(url: string): string {
  const [address = '', query = ''] = url.split('?', 2);
  const names = new Set(query.split('&').map((each) => each.split('=')[0]!.toLowerCase()));
  const missing = Object.entries(DEFAULTS).filter(([name]) => !names.has(name.toLowerCase()));
  const options = [query, ...missing.map((each) => each.join('='))].filter((each) => each !== '');
  return `${address.replace(/\/$/, '')}?${options.join('&')}`;
}
