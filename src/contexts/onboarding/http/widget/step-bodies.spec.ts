import { describe, expect, it } from '@jest/globals';
import { BodyPipe } from '../../../../platform/http/validation.js';
import { DetailsEntry } from './step-bodies.js';

const consent = { terms_version: '1', privacy_version: '1' };
const read = (first_name: unknown) =>
  new BodyPipe(false).transform(
    { first_name, last_name: 'Lovelace', date_of_birth: '1985-12-10', ...consent },
    { type: 'body', metatype: DetailsEntry },
  );

describe('the name of a person', () => {
  it.each(['Ada', ' Ada ', "O'Neill-Müller jr. 3", 'عبد الله', 'می\u200cخواهم', 'D\u2019Arc'])(
    'may be %j',
    async (name) => {
      expect(await read(name)).toMatchObject({ first_name: name.trim() });
    },
  );

  it.each(['', ' ', '\u00ad\u2060', '42', 'A\u0000da', 'Ada\ud800', '\u202eadA', 'A'.repeat(101)])(
    'may not be %j',
    async (name) => {
      await expect(read(name)).rejects.toEqual(
        expect.objectContaining({ code: 'validation_failed', fields: { first_name: expect.anything() } }),
      );
    },
  );
});
