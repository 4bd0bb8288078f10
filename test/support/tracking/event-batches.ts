import { randomUUID } from 'node:crypto';
import fc from 'fast-check';

/** An item of a batch as a merchant sends it. */
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

const pad = (value: number, digits: number): string => String(value).padStart(digits, '0');
const whole = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max });
const sometimes = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });

/** Days that every year has, and the last days of February. */
const day = fc
  .oneof(fc.record({ month: whole(1, 12), day: whole(1, 28) }), fc.constant({ month: 2, day: 29 }))
  .chain(({ month, day: ofMonth }) =>
    whole(2, 9998).map((year) => {
      const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
      return `${pad(year, 4)}-${pad(month, 2)}-${pad(ofMonth === 29 && !leap ? 28 : ofMonth, 2)}`;
    }),
  );
const clock = fc
  .tuple(whole(0, 23), whole(0, 59), sometimes(whole(0, 59)), fc.stringMatching(/^(\.[0-9]{1,9})?$/))
  .map(([hour, minute, second, fraction]) =>
    [`${pad(hour, 2)}:${pad(minute, 2)}`, second === undefined ? '' : `:${pad(second, 2)}${fraction}`].join(
      '',
    ),
  );
const zone = fc.oneof(
  fc.constantFrom('Z', 'z', ''),
  fc
    .tuple(fc.constantFrom('+', '-'), whole(0, 23), whole(0, 59))
    .map(([sign, hours, minutes]) => `${sign}${pad(hours, 2)}:${pad(minutes, 2)}`),
);

/** Valid values of event_datetime, in every form. */
export const eventDatetime = fc
  .tuple(day, fc.constantFrom('T', 't'), clock, zone)
  .map((parts) => parts.join(''));

/** Valid values of event_id, in any letter case. */
export const eventId = fc
  .tuple(fc.uuid({ version: 4 }), fc.boolean())
  .map(([id, upper]) => (upper ? id.toUpperCase() : id));

/** Valid names and ids, of any characters, also with surrounding spaces. */
export const eventText = fc
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
export const deviceId = eventText.filter((text) => [...text].length <= 255);

/** Forbidden keys are left out. */
const key = fc.string({ maxLength: 8 }).filter((name) => name !== '__proto__' && name !== 'constructor');

/** JSON values of moderate size. */
export const jsonValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
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
