import { EventStoreDBClient } from '@eventstore/db-client';

/** What the service wants of the connection where EVENT_STORE_URL does not say otherwise. */
const DEFAULTS = {
  connectionName: 'disburse',
  /** A follower may be behind: whoever read its own write there would not find it. */
  nodePreference: 'leader',
} as const;

/** Connects on first use to the server, or the leader of the cluster, of an `esdb://` or `esdb+discover://` URL. */
export function connect(url: string): EventStoreDBClient {
  return EventStoreDBClient.connectionString(withDefaults(url));
}

/** Not by URL: `esdb://a:2113,b:2113` is none. The client takes options in any case, and the last of a name. */
export function withDefaults(url: string): string {
  const [address = '', query = ''] = url.split('?', 2);
  const names = new Set(query.split('&').map((each) => each.split('=')[0]!.toLowerCase()));
  const missing = Object.entries(DEFAULTS).filter(([name]) => !names.has(name.toLowerCase()));
  const options = [query, ...missing.map((each) => each.join('='))].filter((each) => each !== '');
  return `${address.replace(/\/$/, '')}?${options.join('&')}`;
}
