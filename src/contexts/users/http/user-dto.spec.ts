import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../../kernel/domain-error.js';
import { BodyPipe } from '../../../platform/http/validation.js';
import { MAX_EXTERNAL_ID_LENGTH } from '../application/profile.js';
import { NewUser } from './user-dto.js';

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
    ['+1.555.000.1111', PHONE],
    ['+44 (0)7911 123456', '+447911123456'],
    ['+4915123456789', '+4915123456789'],
  ])('normalises the phone number %s', async (sent, kept) => {
    expect((await read({ phone_number: sent })).phone_number).toBe(kept);
  });

  it.each([
    [undefined],
    [null],
    [''],
    ['   '],
    ['15550001111'],
    ['0015550001111'],
    ['+'],
    ['+1'],
    ['+999123456789'],
    ['+0155500011'],
    ['+1555000111122222'],
    ['+1 555 CALL NOW'],
    ['+15550001111 ext. 5'],
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
    ['a+b@localhost', 'a+b@localhost'],
  ])('keeps the email %p as %p', async (sent, kept) => {
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
    ['😀'.repeat(MAX_EXTERNAL_ID_LENGTH), '😀'.repeat(MAX_EXTERNAL_ID_LENGTH)],
  ])('keeps the external id %p', async (sent, kept) => {
    expect((await read({ phone_number: PHONE, external_id: sent })).external_id ?? null).toBe(kept);
  });

  it.each([[''], [' \t'], ['x'.repeat(MAX_EXTERNAL_ID_LENGTH + 1)], [42], [true], ['a\u0000b'], ['\ud800']])(
    'refuses the external id %p',
    async (sent) => {
      expect(await atFault({ phone_number: PHONE, external_id: sent })).toEqual(['external_id']);
    },
  );

  it('names every field at fault at once', async () => {
    expect(await atFault({ phone_number: 'x', email: 'x', external_id: '' })).toEqual([
      'phone_number',
      'email',
      'external_id',
    ]);
  });
});
