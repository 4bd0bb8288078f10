import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { exchangeSignature, querySignature } from '../../../test/support/exchange/exchange-client.js';
import { hmacHex, idempotencyKeyOf, signAddress, signQuery, stringToSign } from '../src/signing.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('signatures of the client', () => {
  it('are those that merchants compute by hand, for any body', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1 }), fc.string({ unit: 'binary' }), async (secret, text) => {
        const body = new TextEncoder().encode(text);
        const hmac = createHmac('sha256', secret)
          .update('1700000000\nPOST\n/merchants/v1/users\n')
          .update(body);
        const signed = stringToSign('1700000000', 'POST', '/merchants/v1/users', body);
        expect(await hmacHex(secret, signed)).toBe(hmac.digest('hex'));
      }),
    );
  });

  it('of the exchange cover the address, or the path and every parameter in any order', async () => {
    const names = fc.constantFrom(
      'api_key',
      'pair_id',
      'user_id',
      'withdraw_address',
      'withdraw_address_memo',
    );
    const ascii = fc.string({ unit: 'grapheme-ascii', minLength: 1 });
    await fc.assert(
      fc.asyncProperty(ascii, fc.dictionary(names, ascii), async (secret, query) => {
        const reversed = new URLSearchParams(Object.entries(query).reverse());
        expect(await signQuery(secret, '/v1/orders', reversed)).toBe(
          querySignature(secret, '/v1/orders', query),
        );
        expect(await signAddress(secret, 'a b')).toBe(exchangeSignature(secret, 'a b'));
      }),
    );
  });
});

describe('the Idempotency-Key of an own id', () => {
  it('is a uuid, the same for the same write and another for any other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), async (one, other) => {
        fc.pre(one !== other);
        const key = await idempotencyKeyOf(one, 'POST', '/merchants/v1/users');
        expect(key).toMatch(UUID);
        expect(await idempotencyKeyOf(one, 'POST', '/merchants/v1/users')).toBe(key);
        expect(await idempotencyKeyOf(other, 'POST', '/merchants/v1/users')).not.toBe(key);
        expect(await idempotencyKeyOf(one, 'POST', '/merchants/v1/payouts/report')).not.toBe(key);
      }),
    );
  });

  it('is the id where that is a uuid', async () => {
    const id = 'C0FFEE00-0000-4000-8000-000000000001';
    expect(await idempotencyKeyOf(id, 'POST', '/')).toBe(id.toLowerCase());
  });
});
