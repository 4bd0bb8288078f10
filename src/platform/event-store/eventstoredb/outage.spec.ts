import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../kernel/ids.js';
import { freePort } from '../../../../sandbox/processes.js';
import { EventStoreUnavailable } from '../port.js';
import { openEventStoreDb, type EventStoreDbEventStore } from './eventstoredb-event-store.js';

describe('the EventStoreDB event store without a server', () => {
  let store: EventStoreDbEventStore;

  beforeEach(async () => {
    store = openEventStoreDb(`esdb://127.0.0.1:${await freePort()}?tls=false`);
  });

  afterEach(async () => {
    await store.close();
  });

  it('reports that it is unavailable, for every call', async () => {
    const events = [{ id: newId(), type: 'x.v1', data: {}, metadata: {} }];
    const calls = [
      store.commit({ appends: [{ stream: 's-1', events, expected: 'no_stream' }] }),
      store.commit({ appends: [{ stream: 's-1', events: [], expected: 'no_stream' }] }),
      store.readStream('s-1'),
      store.readAll(null, 10),
      store.head(),
      store.ping(),
    ];
    const outcomes = await Promise.allSettled(calls);
    for (const outcome of outcomes) {
      expect(outcome.status).toBe('rejected');
      expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(EventStoreUnavailable);
    }
  });

  it('lets a subscription wait for the server until it is closed', async () => {
    const subscription = store.subscribe(null);
    const ended = (async () => {
      for await (const events of subscription) expect(events).toHaveLength(1);
    })();
    await new Promise((resolve) => setTimeout(resolve, 300));
    await subscription.close();
    await ended;
  });
});

describe('the EventStoreDB event store with an unresponsive server', () => {
  const sockets = new Set<Socket>();
  let server: Server;
  let store: EventStoreDbEventStore;

  beforeEach(async () => {
    server = createServer((socket) => sockets.add(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    store = openEventStoreDb(`esdb://127.0.0.1:${port}?tls=false`, 300);
  });

  afterEach(async () => {
    await store.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('times out, for every call', async () => {
    const events = [{ id: newId(), type: 'x.v1', data: {}, metadata: {} }];
    const calls = [
      store.commit({ appends: [{ stream: 's-1', events, expected: 'no_stream' }] }),
      store.readStream('s-1'),
      store.readAll(null, 10),
      store.head(),
      store.ping(),
    ];
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(EventStoreUnavailable) });
    }
  });

  it('is closed all the same', async () => {
    const subscription = store.subscribe(null);
    const ended = (async () => {
      for await (const events of subscription) expect(events).toHaveLength(0);
    })();
    await store.close();
    await ended;
  });
});
