import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../kernel/ids.js';
import { EventFeed } from '../../projections/event-feed.js';
import { EventStoreUnavailable } from '../port.js';
import { openEventStoreDb, type EventStoreDbEventStore } from './eventstoredb-event-store.js';

describe.each([
  ['without a server', undefined],
  ['with an unresponsive server', 300],
])('the EventStoreDB event store %s', (_, timeoutMs) => {
  const sockets = new Set<Socket>();
  let server: Server;
  let store: EventStoreDbEventStore;

  beforeEach(async () => {
    server = createServer((socket) => sockets.add(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    if (timeoutMs === undefined) await new Promise((resolve) => server.close(resolve));
    store = openEventStoreDb(`esdb://127.0.0.1:${port}?tls=false`, timeoutMs);
  });
  afterEach(async () => {
    await store.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is unavailable for every call', async () => {
    const events = [{ id: newId(), type: 'x.v1', data: {}, metadata: {} }];
    const calls = [
      store.commit({ appends: [{ stream: 's-1', events, expected: 'no_stream' }] }),
      store.commit({ appends: [{ stream: 's-1', events: [], expected: 'no_stream' }] }),
      store.commit({ appends: [{ stream: 's-1', events: [], expected: 0 }] }),
      store.readStream('s-1'),
      store.readAll(null, 10),
      store.head(),
      store.ping(),
    ];
    for (const outcome of await Promise.allSettled(calls))
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(EventStoreUnavailable) });
  });

  it('returns no events to the feed of subscriptions, which waits until it is stopped', async () => {
    const feed = new EventFeed(store);
    feed.start();
    await new Promise((resolve) => setTimeout(resolve, 300));
    await feed.stop();
    expect(await feed.after(null, 1, 1)).toEqual([]);
  });
});
