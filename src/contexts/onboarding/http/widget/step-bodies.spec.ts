import { describe, expect, it } from '@jest/globals';
import { readBody } from '../../../../platform/http/validation.js';
import { DetailsEntry } from './step-bodies.js';

const consent = { terms_version: '1', privacy_version: '1' };
const read = (first_name: unknown) =>
  readBody(DetailsEntry, { first_name, last_name: 'Lovelace', date_of_birth: '1985-12-10', ...consent });

describe('the name of a person', () => {
  it.each(['Ada', ' Ada ', "O'Neill-Müller jr. 3", '李小龙', 'عبد الله', 'می\u200cخواهم', 'D\u2019Arc'])(
    'may be %j',
    (name) => {
      expect(read(name).first_name).toBe(name.trim());
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
    expect(() => read(name)).toThrow(
      expect.objectContaining({ code: 'validation_failed', fields: { first_name: expect.anything() } }),
    );
  });
});
