import { describe, expect, it } from '@jest/globals';
import { KIND_RULES } from './credential-kinds.js';
import { SCOPES } from '../operators/roles.js';

const GIVEN = {
  scopes: ['payouts:read'],
  merchants: null,
  addresses: [],
  withdraw_addresses: null,
  demands_signing: true,
  memo_signing: 'full' as const,
};
const refused = (fields: object) => expect.objectContaining({ code: 'validation_failed', fields });

describe('a key of the exchange', () => {
  const read = (over: object) => KIND_RULES.exchange.readTerms({ ...GIVEN, ...over }, 'm1');

  it('demands a signature of the whole query for a memo only where it demands signatures', () => {
    expect(read({})).toMatchObject({ demands_signing: true, memo_signing: 'full' });
    expect(() => read({ demands_signing: false })).toThrow(
      refused({ memo_signing: ['full is for keys that demand signatures'] }),
    );
    expect(() => read({ memo_signing: 'other' })).toThrow(
      refused({ memo_signing: ['must be one of contract, full'] }),
    );
  });
});

it('an admin key with an unknown scope is refused', () => {
  expect(() => KIND_RULES.admin.readTerms({ ...GIVEN, scopes: ['payouts:read', 'all'] })).toThrow(
    refused({ scopes: [`[1] must be one of ${SCOPES.join(', ')}`] }),
  );
});
