import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Sealer } from '../sealing/sealer.js';
import { hasValidMac, withMac } from './authentic-event-store.js';

const macs = new Sealer(randomBytes(32));
const place = { stream: 'payout-1', revision: 3 };
const event = { id: 'the id', type: 'payout.received.v2', data: { amount: '1' }, metadata: { actor: 'a' } };

describe('the MAC of an event', () => {
  const { data, metadata, dataText, metadataText } = withMac(event, place.stream, place.revision, macs);
  const stored = { ...event, ...place, data, metadata, dataText: dataText!, metadataText: metadataText! };

  it('is valid for the event as it was written', () => {
    expect(hasValidMac(stored, macs)).toBe(true);
    expect(hasValidMac({ ...event, ...place, data, metadata }, macs)).toBe(true);
  });

  it.each<[string, Partial<typeof stored>]>([
    ['in another stream', { stream: 'payout-2' }],
    ['at another revision of its stream', { revision: 4 }],
    ['under another id', { id: 'another' }],
    ['of another type', { type: 'payout.expired.v1' }],
    ['with other data', { dataText: '{"amount":"2"}' }],
    ['with other metadata', { metadataText: metadataText!.replace('"actor":"a"', '"actor":"b"') }],
    ['without its MAC', { metadataText: '{"actor":"a"}' }],
  ])('is wrong %s', (_name, changed) => {
    expect(hasValidMac({ ...stored, ...changed }, macs)).toBe(false);
  });

  it('is wrong under another key', () => {
    expect(hasValidMac(stored, new Sealer(randomBytes(32)))).toBe(false);
  });
});
