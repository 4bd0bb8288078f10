import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { newId } from '../../../kernel/ids.js';
import { exportLines } from './export.js';

it('an export of a merchant that continues has the later events of streams that began before the break', async () => {
  const store = new InMemoryEventStore();
  const write = async (
    stream: string,
    data: Record<string, string>,
    expected: 'no_stream' | number,
  ): Promise<string> => {
    const event = { id: newId(), type: 't.v1', data, metadata: {} };
    const result = await store.commit({ appends: [{ stream, events: [event], expected }] });
    if (result.outcome !== 'committed') throw new Error(result.outcome);
    return result.position!;
  };
  await write('payout-1', { merchant_id: 'm' }, 'no_stream');
  await write('payout-2', { merchant_id: 'n' }, 'no_stream');
  const after = await write('payout-3', { merchant_id: 'm' }, 'no_stream');
  // These do not name their merchant: which streams are whose is known from before the break.
  const later = [await write('payout-1', {}, 0), await write('payout-3', {}, 0)];
  await write('payout-2', {}, 0);
  const scope = { merchant: 'm', from: null, to: null, part_events: 1000 };
  const positions = async (from: string | null): Promise<string[]> => {
    const found: string[] = [];
    const range = { end: await store.head(), after: from, progress: () => undefined };
    await exportLines(store, scope, range, (_line, { position }) => void found.push(position));
    return found;
  };
  expect(await positions(after)).toEqual(later);
  expect((await positions(null)).slice(-2)).toEqual(later);
});
