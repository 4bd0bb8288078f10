import { describe, expect, it } from '@jest/globals';
import { detailsOf } from './step-bodies.js';

const TODAY = '2026-11-22';
const body = (first_name: unknown) => ({ first_name, last_name: 'Lovelace', date_of_birth: '1985-12-10' });

describe('the name of a person', () => {
  it.each(['Ada', ' Ada ', "O'Neill-Müller jr. 3", '李小龙', 'عبد الله', 'می\u200cخواهم', 'D\u2019Arc'])(
    'may be %j',
    (name) => {
      expect(detailsOf(body(name), TODAY).firstName).toBe(name.trim());
    },
  );

  it.each([
    '',
    ' ',
    '\u200b',
    '\u00ad\u2060',
    '...',
    '42',
    'A\u0000da',
    'A\nda',
    'Ada\ud800',
    '\u202eadA',
    'A'.repeat(101),
  ])('may not be %j', (name) => {
    expect(() => detailsOf(body(name), TODAY)).toThrow(
      expect.objectContaining({ code: 'validation_failed', fields: { first_name: expect.anything() } }),
    );
  });
});
