import { FORWARDS, jsonEvent, START, type EventStoreDBClient } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../kernel/ids.js';
import { eventually } from '../../../../test/support/eventually.js';
import { freshStream, someEvent } from '../../../../test/conformance/support.js';
import { followLog } from '../log-pages.js';
import { Connection } from './connection.js';
import { EventStoreDbEventStore } from './eventstoredb-event-store.js';

const url = process.env['EVENTSTOREDB_URL'];

/** The tests that need a real server. Streams have fresh names, so that it may have other events. */
(url === undefined ? describe.skip : describe)('the EventStoreDB event store with a server', () => {
  let client: EventStoreDBClient;
  let store: EventStoreDbEventStore;

  beforeEach(() => {
    const connection = new Connection(url!);
    ({ client } = connection);
    store = new EventStoreDbEventStore(connection);
  });

  afterEach(async () => {
    await store.close();
  });

  async function write(stream: string, count: number): Promise<void> {
    const events = Array.from({ length: count }, () => someEvent());
    await store.commit({ appends: [{ stream, events, expected: 'no_stream' }] });
  }

  it('leaves no open call to the server after a read that ends early', async () => {
    await write(freshStream(), 40);
    for (let round = 0; round < 30; round += 1) {
      await store.head();
      await store.ping();
      await store.readAll(null, 1);
    }
    const openCalls = (): number =>
      (client as unknown as { disposableStreams: Set<unknown> }).disposableStreams.size;
    // The stream of appends remains open.
    await eventually(() => openCalls() <= 1);
  });

  it('skips the internal events of the server in later reads, after one read has scanned them', async () => {
    await write(freshStream(), 1);
    const noise = Array.from({ length: 500 }, () => jsonEvent({ type: '$noise', data: {} }));
    for (let chunk = 0; chunk < 5; chunk += 1) await client.appendToStream(`$noise-${newId()}`, noise);
    const head = await store.head();
    const scans: unknown[] = [];
    const readAll = client.readAll.bind(client);
    client.readAll = ((...args: Parameters<typeof readAll>) => {
      scans.push(args);
      return readAll(...args);
    }) as typeof readAll;
    expect(await store.head()).toBe(head);
    expect(await store.readAll(head, 10)).toEqual([]);
    expect(scans).toHaveLength(2);
  });

  it('stores the cause of an event in the metadata of the server, which readers do not receive', async () => {
    const stream = freshStream();
    const event = {
      ...someEvent(),
      metadata: { request_id: 'r-1', causation_id: 'c-1', merchant_id: 'm-1' },
    };
    await store.commit({ appends: [{ stream, events: [event], expected: 'no_stream' }] });
    for await (const raw of client.readStream(stream, { direction: FORWARDS, fromRevision: START })) {
      expect(raw.event?.metadata).toMatchObject({ $correlationId: 'r-1', $causationId: 'c-1' });
    }
    expect((await store.readStream(stream))[0]?.metadata).toEqual(event.metadata);
  });

  it('passes 300 events that were written together to a follower in fewer than 30 batches', async () => {
    const start = await store.head();
    const stream = freshStream();
    await write(stream, 300);
    const sizes: number[] = [];
    let seen = 0;
    for await (const events of followLog(store, start, new AbortController().signal)) {
      sizes.push(events.length);
      seen += events.filter((event) => event.stream === stream).length;
      if (seen === 300) break;
    }
    expect(sizes.length).toBeLessThan(30);
  });
});
