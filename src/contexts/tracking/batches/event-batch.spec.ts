import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventItem, validItem, type SentItem } from '../../../../test/support/tracking/event-batches.js';
import { findFault, toItem, type ValidItem } from './event-batch.js';

const REQUIRED = ['event_name', 'payload', 'event_datetime', 'event_id', 'user_external_id'] as const;
const without = (field: string): SentItem =>
  Object.fromEntries(Object.entries(eventItem()).filter(([name]) => name !== field));

describe('an item of a batch', () => {
  it('is valid with any valid values of its fields', () => {
    fc.assert(fc.property(validItem, (item) => expect(findFault(item)).toBeNull()));
  });

  it.each([null, undefined, 1, 'text', true, []])('is refused when it is %j', (item) => {
    expect(findFault(item)).toBe(' must be an object');
  });

  it.each(REQUIRED)('is refused without %s', (field) => {
    expect(findFault(without(field))).toBe(`.${field} is required`);
    expect(findFault(eventItem({ [field]: null }))).toBe(`.${field} is required`);
  });

  it.each(REQUIRED.filter((field) => field !== 'payload'))('is refused with a blank %s', (field) => {
    for (const blank of ['', ' ', '\t\n', '\u00a0\u2003']) {
      expect(findFault(eventItem({ [field]: blank }))).toBe(`.${field} must not be blank`);
    }
  });

  it('loses the invisible characters of its user_external_id', () => {
    const item = eventItem({ user_external_id: '\ufeff customer\u00ad-\u200b7\u202c ' });
    expect(toItem(item as unknown as ValidItem, '{}').user_external_id).toBe('customer-7');
    expect(findFault(eventItem({ user_external_id: '\u200b \u2060' }))).toBe(
      '.user_external_id must not be blank',
    );
  });

  it.each(['event_name', 'user_external_id', 'device_id'])(
    'is refused if %s is too long or has invalid characters',
    (field) => {
      const fault = (value: unknown) => findFault(eventItem({ [field]: value }));
      const longest = field === 'device_id' ? 253 : 255;
      for (const value of ['a', 'a'.repeat(255), '\u{1F600}'.repeat(255), ` ${'é'.repeat(longest)} `, 'İ'])
        expect(fault(value)).toBeNull();
      for (const value of ['a'.repeat(256), '\u{1F600}'.repeat(256)])
        expect(fault(value)).toBe(`.${field} must be at most 255 characters`);
      for (const value of ['a\u0000b', 'a\nb', 'a\u007fb', 'a\u0085b', 'a\ud800b', '\udc00'])
        expect(fault(value)).toBe(`.${field} must not contain control characters`);
      for (const value of [1, true, {}, ['a']]) expect(fault(value)).toBe(`.${field} must be a string`);
    },
  );

  it('can omit device_id, but is refused with a blank device_id', () => {
    expect(findFault(without('device_id'))).toBeNull();
    expect(findFault(eventItem({ device_id: null }))).toBeNull();
    expect(findFault(eventItem({ device_id: ' ' }))).toBe('.device_id must not be blank');
  });

  it('is refused if device_id, with its surrounding space, is too long or has control characters', () => {
    for (const value of [` ${'a'.repeat(255)}`, `${' '.repeat(300)}a`])
      expect(findFault(eventItem({ device_id: value }))).toBe('.device_id must be at most 255 characters');
    for (const value of ['a\n', '\ta', 'a\r\n'])
      expect(findFault(eventItem({ device_id: value }))).toBe(
        '.device_id must not contain control characters',
      );
  });

  it.each([[[]], ['{}'], [1], [false]])('is refused with %j as payload', (payload) => {
    expect(findFault(eventItem({ payload }))).toBe('.payload must be an object');
  });

  it.each([
    '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
    '4f9c7a2e-1b2c-4d3e-c456-7890abcdef12',
    '4f9c7a2e1b2c4d3e84567890abcdef12',
    ' 4f9c7a2e-1b2c-4d3e-8456-7890abcdef12',
    '4f9c7a2e-1b2c-4d3e-8456-7890abcdef123',
    '00000000-0000-0000-0000-000000000000',
  ])('is refused with %s as event_id', (id) => {
    expect(findFault(eventItem({ event_id: id }))).toBe('.event_id must be a UUID v4');
  });

  it('is refused with an invalid date, and the error contains a valid example', () => {
    expect(findFault(eventItem({ event_datetime: '2026-02-30T00:00:00Z' }))).toBe(
      '.event_datetime must be a date and time of ISO 8601 that exists, such as 2026-01-31T12:00:00Z',
    );
    expect(findFault(eventItem({ event_datetime: 1767225600 }))).toBe('.event_datetime must be a string');
    expect(findFault(eventItem({ event_id: 7 }))).toBe('.event_id must be a string');
  });

  it('is normalised before it is compared and stored', () => {
    const item = eventItem({
      event_name: '  Kauf ÄÖ ',
      event_id: 'AAAAAAAA-BBBB-4CCC-8DDD-EEEEEEEEEEEE',
      event_datetime: '2026-01-01T00:30+01:00',
      user_external_id: ' Customer 1\u00a0',
      device_id: ' D ',
    });
    expect(toItem(item as unknown as ValidItem, '{}')).toEqual({
      event_id: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
      event_name: 'kauf äö',
      event_datetime: '2025-12-31T23:30:00.000000Z',
      user_external_id: 'Customer 1',
      device_id: ' D ',
      payload: '{}',
    });
  });
});
