import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../kernel/ids.js';
import { eventually } from '../../../../test/support/eventually.js';
import { confirm, ScriptedNode } from '../../../../test/support/event-store/eventstoredb-node.js';
import { openEventStoreDb, type EventStoreDbEventStore } from './eventstoredb-event-store.js';

let node: ScriptedNode;
let stores: EventStoreDbEventStore[];

beforeEach(async () => {
  node = await ScriptedNode.start();
});

afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  node.stop();
});

function append(store: EventStoreDbEventStore): Promise<unknown> {
  const events = [{ id: newId(), type: 'x.v1', data: {}, metadata: {} }];
  return store.commit({ appends: [{ stream: `s-${newId()}`, events, expected: 'no_stream' }] });
}

describe('two streams of appends to EventStoreDB in one process', () => {
  it('one ends while both have an append in flight: the late response to the other is ignored, both are sent again', async () => {
    const url = `esdb://127.0.0.1:${node.port}?tls=false`;
    stores = [0, 1].map(() => openEventStoreDb(url));
    const { appends } = node;
    const first = append(stores[0]!);
    await eventually(() => appends.length === 1);
    const second = append(stores[1]!);
    await eventually(() => appends.length === 2);
    const [lost, late] = appends;
    lost!.call.emit('error', { code: status.UNAVAILABLE, details: 'no longer the leader' });
    await eventually(() => appends.length === 4);
    confirm(late!);
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (const again of appends.slice(2)) confirm(again);
    const outcomes = await Promise.all([first, second]);
    expect(outcomes).toMatchObject([{ outcome: 'committed' }, { outcome: 'committed' }]);
    const ids = appends.map(({ request }) => request.getProposedMessagesList()[0]!.getId()!.getString());
    expect(new Set(ids.slice(2))).toEqual(new Set(ids.slice(0, 2)));
  });
});
