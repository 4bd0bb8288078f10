import { describe, expect, it } from '@jest/globals';
import { listOf } from '../../../../test/support/audit/signed-log.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { newId } from '../../../kernel/ids.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { exportedLines, Selection } from './export.service.js';

it('a continued export of a merchant includes later events of streams that began before the interruption', async () => {
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
  // These events do not name their merchant: earlier events of the streams do.
  const later = [await write('payout-1', {}, 0), await write('payout-3', {}, 0)];
  await write('payout-2', {}, 0);
  const scope = { merchant: 'm', from: null, to: null, part_events: 1000 };
  const positions = async (from: string | null): Promise<string[]> => {
    const range = { end: await store.head(), after: from, progress: () => undefined };
    const pages = await listOf(exportedLines(store, scope, range));
    return pages.flat().map(({ position }) => position);
  };
  expect(await positions(after)).toEqual(later);
  expect((await positions(null)).slice(-2)).toEqual(later);
});

const event = (stream: string, data: object, metadata: object = {}): RecordedEvent =>
  ({ stream, type: 't.v1', data, metadata, position: '1', revision: 0 }) as unknown as RecordedEvent;

function selected(...events: readonly RecordedEvent[]): readonly boolean[] {
  const selection = new Selection({ merchant: 'm', from: null, to: null });
  return events.map((each) => selection.includes(each));
}

describe('the export of a merchant', () => {
  it('includes all events of a claim stream if the owner of the claim is a stream of the merchant', () => {
    const claim = event('transfer-1_0xabc_0', { owner: 'payout-p' });
    const later = event('transfer-1_0xabc_0', { note: 'names no merchant' });
    expect(selected(event('payout-p', { merchant_id: 'm' }), claim, later)).toEqual([true, true, true]);
  });

  it('excludes a claim if its owner is a stream of another merchant or a stream without events', () => {
    const claim = (owner: unknown) => event('transfer-1_0xabc_0', { owner });
    expect(selected(event('payout-q', { merchant_id: 'n' }), claim('payout-q'), claim('payout-p'))).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('selects events by the merchant in their data, or else by the merchant in their metadata', () => {
    expect(
      selected(
        event('a-1', { merchant_id: 'm' }, { merchant_id: 'n' }),
        event('a-2', { merchant_id: 'n' }, { merchant_id: 'm' }),
        event('a-3', {}, { merchant_id: 'm' }),
        event('a-4', {}, { merchant_id: 'n' }),
        event('a-5', {}),
      ),
    ).toEqual([true, false, true, false, false]);
  });
});
