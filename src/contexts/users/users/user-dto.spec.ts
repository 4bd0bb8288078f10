import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../../kernel/domain-error.js';
import { BodyPipe } from '../../../platform/http/decorators.js';
import { MAX_EXTERNAL_ID_LENGTH } from './profile.service.js';
import { parsePhoneNumber } from './phone-number.service.js';
import { NewUser } from './users.controller.js';

const PHONE = '+15550001111';

const pipe = new BodyPipe(false);

async function read(body: object): Promise<NewUser> {
  return (await pipe.transform(body, { type: 'body', metatype: NewUser })) as NewUser;
}

/** The names of the members at fault. */
async function atFault(body: object): Promise<string[]> {
  const error: unknown = await read(body).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof DomainError ? Object.keys(error.fields) : [];
}

describe('the profile of a new user', () => {
  it.each([
    ['+15550001111', PHONE],
    ['  +1 (555) 000-1111 ', PHONE],
    ['+44 (0)7911 123456', '+447911123456'],
    ['\u202a+1 (555) 000\u20111111\u202c', PHONE],
    ['\ufeff+1\u200b555\u00ad000\u20601111\u200f', PHONE],
    ['＋１５５５０００１１１１', PHONE],
    ['+١٥٥٥٠٠٠١١١١', PHONE],
    ['+52 1 55 1234 5678', '+525512345678'],
    ['+52 55 1234 5678', '+525512345678'],
    ['+54 9 11 1234 5678', '+5491112345678'],
    ['+54 11 1234 5678', '+541112345678'],
    ['+54 11 15 1234 5678', '+5491112345678'],
    ['+55 11 8123-4567', '+5511981234567'],
    ['+55 11 3123-4567', '+551131234567'],
    ['+55 11 7712-3456', '+551177123456'],
    ['+229 97 12 34 56', '+2290197123456'],
    ['+225 07 12 34 56', '+2250707123456'],
    ['+225 45 12 34 56', '+2250545123456'],
    ['+225 02 12 34 56', '+2250102123456'],
    ['+225 78 12 34 56', '+2250778123456'],
  ])('normalises the phone number %s', async (sent, kept) => {
    expect((await read({ phone_number: sent })).phone_number).toBe(kept);
  });

  it.each([
    [undefined],
    [null],
    [''],
    ['15550001111'],
    ['+1'],
    ['+999123456789'],
    ['+0155500011'],
    ['+1555000111122222'],
    ['+1 555 CALL NOW'],
    ['+15550001111 ext. 5'],
    ['+155500011'],
    ['+49151'],
    ['+525512345'],
    ['+225 80 12 34 56'],
    ['+229 01 97 12 34'],
    ['\u200b'],
    ['+155500011\u00b21'],
    ['call +15550001111'],
    [15550001111],
    [{}],
  ])('refuses the phone number %p', async (sent) => {
    expect(await atFault({ phone_number: sent })).toEqual(['phone_number']);
  });

  it.each([
    [undefined, null],
    [null, null],
    ['', null],
    ['  ', null],
    [' Ada@Example.COM ', 'ada@example.com'],
    ['\u200bada@\u00adexample.com\ufeff', 'ada@example.com'],
    ['\u2068ada@example.com\u2069 ', 'ada@example.com'],
    ['\u200b', null],
    ['a+b@localhost', 'a+b@localhost'],
  ])('reads the email %p as %p', async (sent, kept) => {
    expect((await read({ phone_number: PHONE, email: sent })).email ?? null).toBe(kept);
  });

  it.each([
    ['ada'],
    ['@example.com'],
    ['ada@'],
    ['a b@example.com'],
    ['a@b@c'],
    ['a\u0000@b.c'],
    [7],
    [['a@b.c']],
  ])('refuses the email %p', async (sent) => {
    expect(await atFault({ phone_number: PHONE, email: sent })).toEqual(['email']);
  });

  it.each([
    [undefined, null],
    [null, null],
    ['  order 7 ', 'order 7'],
    ['\u200eorder\u200b 7\ufe0f\u202c', 'order 7'],
    ['😀'.repeat(MAX_EXTERNAL_ID_LENGTH), '😀'.repeat(MAX_EXTERNAL_ID_LENGTH)],
  ])('accepts the external id %p', async (sent, kept) => {
    expect((await read({ phone_number: PHONE, external_id: sent })).external_id ?? null).toBe(kept);
  });

  it.each([
    [''],
    [' \t'],
    ['\u200b\u2060'],
    ['x'.repeat(MAX_EXTERNAL_ID_LENGTH + 1)],
    [42],
    [true],
    ['a\u0000b'],
    ['\ud800'],
  ])('refuses the external id %p', async (sent) => {
    expect(await atFault({ phone_number: PHONE, external_id: sent })).toEqual(['external_id']);
  });

  it('reports every invalid field in one response', async () => {
    expect(await atFault({ phone_number: 'x', email: 'x', external_id: '' })).toEqual([
      'phone_number',
      'email',
      'external_id',
    ]);
  });
});

it.each(['+155500011', '+525512345'])(
  'a search accepts the phone number %s, which was stored before lengths were checked',
  (number) => expect(parsePhoneNumber(` ${number} `)).toBe(number),
);
