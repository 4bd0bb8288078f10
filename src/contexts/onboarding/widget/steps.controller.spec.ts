import { describe, expect, it } from '@jest/globals';
import { BodyPipe } from '../../../platform/http/decorators.js';
import { CodeRequest, DetailsEntry } from './steps.controller.js';

const PERSON = { first_name: 'Ada', last_name: 'Lovelace', date_of_birth: '1985-12-10' };
const read = (given: object, metatype: new () => object = DetailsEntry) => {
  const body = { ...PERSON, terms_version: '1', privacy_version: '1', ...given };
  return new BodyPipe(false).transform(body, { type: 'body', metatype });
};
const refused = (field: string) => ({ code: 'validation_failed', fields: { [field]: expect.anything() } });

describe('a date of birth', () => {
  it.each([
    '1985-12-10',
    ' 1985-12-10\u200f',
    '１９８５-１２-１０',
    '١٩٨٥-١٢-١٠',
    '۱۹۸۵-۱۲-۱۰',
    '१९८५-१२-१०',
  ])('can be %j', async (sent) => {
    expect(await read({ date_of_birth: sent })).toMatchObject({ date_of_birth: '1985-12-10' });
  });

  it.each(['1985-02-30', '1985-١٣-10', '1885-12-10', ''])('cannot be %j', async (sent) => {
    await expect(read({ date_of_birth: sent })).rejects.toMatchObject(refused('date_of_birth'));
  });
});

it.each([
  [' +1 (555) 000-1111 ', '+15550001111'],
  ['\u202a+1 555 000 1111\u202c', '+15550001111'],
  ['+١٥٥٥٠٠٠١١١١', '+15550001111'],
  ['+52 1 55 1234 5678', '+525512345678'],
  ['my phone', 'my phone'],
])('the typed phone number %j is compared as %j', async (phone_number, number) => {
  const body = { phone_number, browser: '0'.repeat(32) };
  expect(await read(body, CodeRequest)).toMatchObject({ phone_number: number });
});

describe('the entered name of a person', () => {
  it('can be a single name if the last name is null, but not if the last name is omitted', async () => {
    const one = { first_name: 'Sukarno', last_name: null };
    expect(await read(one)).toMatchObject(one);
    await expect(read({ last_name: undefined })).rejects.toMatchObject(refused('last_name'));
    await expect(read({ first_name: null })).rejects.toMatchObject(refused('first_name'));
  });

  it.each(['Ada', ' Ada ', "O'Neill-Müller jr. 3", 'عبد الله', 'می\u200cخواهم', 'D\u2019Arc'])(
    'can be %j',
    async (name) => {
      expect(await read({ first_name: name })).toMatchObject({ first_name: name.trim() });
    },
  );

  it.each(['', ' ', '\u00ad\u2060', '42', 'A\u0000da', 'Ada\ud800', '\u202eadA', 'A'.repeat(101)])(
    'cannot be %j',
    async (name) => {
      await expect(read({ first_name: name })).rejects.toMatchObject(refused('first_name'));
    },
  );
});
