import { randomUUID } from 'node:crypto';
import fc from 'fast-check';

export type SentItem = Record<string, unknown>;

export function eventItem(fields: SentItem = {}): SentItem {
  return {
    event_name: 'Checkout Completed',
    payload: { amount: '12.50', items: [{ sku: 'a-1', quantity: 2 }] },
    event_datetime: '2026-01-31T12:00:00.000Z',
    event_id: randomUUID(),
    user_external_id: 'customer-1',
    device_id: randomUUID(),
    ...fields,
  };
}

export const batchOf = (items: readonly SentItem[]): string => JSON.stringify({ events: items });

/** Valid values of event_datetime. The reader of instants is tested with all forms. */
export const eventDatetime = fc
  .tuple(
    fc.date({ min: new Date('0002-01-01'), max: new Date('9998-12-31'), noInvalidDate: true }),
    fc.stringMatching(/^(\.[0-9]{1,9})?$/),
    fc.constantFrom('Z', 'z', '', '+05:30', '-23:59'),
  )
  .map(([date, fraction, zone]) => `${date.toISOString().slice(0, 19)}${fraction}${zone}`);

/** Valid values of event_id, in any letter case. */
const eventId = fc
  .tuple(fc.uuid({ version: 4 }), fc.boolean())
  .map(([id, upper]) => (upper ? id.toUpperCase() : id));

/** Valid names and ids, of any characters, also with surrounding spaces. */
const eventText = fc
  .tuple(
    fc.constantFrom('', ' ', '\u00a0'),
    fc
      .string({ unit: 'binary', minLength: 1, maxLength: 255 })
      .filter(
        (text) =>
          !/[\p{Cc}\p{Cs}]/u.test(text) &&
          text.replace(/\p{Default_Ignorable_Code_Point}/gu, '').trim() !== '',
      ),
    fc.constantFrom('', '  '),
  )
  .map((parts) => parts.join(''));

/** Valid values of device_id, whose surrounding space counts. */
const deviceId = eventText.filter((text) => [...text].length <= 255);

/** Excludes forbidden keys. */
const key = fc.string({ maxLength: 8 }).filter((name) => name !== '__proto__' && name !== 'constructor');

const jsonValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.boolean(), fc.constant(null)),
    fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
})).value;

export const validItem: fc.Arbitrary<SentItem> = fc.record(
  {
    event_name: eventText,
    payload: fc.dictionary(key, jsonValue, { maxKeys: 4 }),
    event_datetime: eventDatetime,
    event_id: eventId,
    user_external_id: eventText,
    device_id: fc.oneof(deviceId, fc.constant(null)),
    something_else: jsonValue,
  },
  { requiredKeys: ['event_name', 'payload', 'event_datetime', 'event_id', 'user_external_id'] },
);
