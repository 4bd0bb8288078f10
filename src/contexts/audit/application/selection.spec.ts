import { describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { Selection } from './export.js';

const event = (stream: string, data: object, metadata: object = {}): RecordedEvent =>
  ({ stream, type: 't.v1', data, metadata, position: '1', revision: 0 }) as unknown as RecordedEvent;

function selected(...events: readonly RecordedEvent[]): readonly boolean[] {
  const selection = new Selection({ merchant: 'm', from: null, to: null });
  return events.map((each) => selection.includes(each));
}

describe('the export of a merchant', () => {
  it('has the claims of its streams, also those that name no merchant', () => {
    const claim = event('transfer-1_0xabc_0', { owner: 'payout-p' });
    const later = event('transfer-1_0xabc_0', { note: 'names no merchant' });
    expect(selected(event('payout-p', { merchant_id: 'm' }), claim, later)).toEqual([true, true, true]);
  });

  it('has no claim of a stream of another merchant, or of one that did not begin', () => {
    const claim = (owner: unknown) => event('transfer-1_0xabc_0', { owner });
    expect(selected(event('payout-q', { merchant_id: 'n' }), claim('payout-q'), claim('payout-p'))).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('has events that name the merchant in their data, or else in their metadata, and no others', () => {
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
