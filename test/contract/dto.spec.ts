import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { getMetadataStorage } from 'class-validator';
import * as fc from 'fast-check';
import { ReportPayoutBody } from '../../src/contexts/payouts/payouts/payouts.dto.js';
import { NewUser } from '../../src/contexts/users/users/users.controller.js';
import { RecoveryRequest } from '../../src/contexts/webhooks/deliveries/deliveries.dto.js';
import {
  NewWebhookEndpoint,
  SecretRotation,
  WebhookEndpointChanges,
} from '../../src/contexts/webhooks/endpoints/endpoints.dto.js';
import { DomainError } from '../../src/kernel/domain-error.js';
import type { Dto } from '../../src/platform/dto/field.js';
import { BodyPipe } from '../../src/platform/http/decorators.js';

/** Values that some rules accept and others refuse. */
const value = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, '', ' ', 'USDC', 'enabled', 'payout.received', '12.50', '10001'),
  fc.constantFrom<unknown>(
    '+15550001111',
    'ada@example.com',
    'https://example.com/x',
    '2026-01-31T12:00:00Z',
  ),
  fc.constantFrom<unknown>(
    0,
    7,
    86_400,
    86_401,
    1.5,
    -1,
    [],
    ['payout.received'],
    ['payout.received', 7],
    {},
  ),
  fc.uuid({ version: 4 }),
  fc.string(),
  fc.jsonValue(),
);

/** Valid JSON that breaks code which trusts names of members. */
const hostile = fc.oneof(
  fc
    .constantFrom<unknown>('constructor', 'prototype', 'toString', 'then', 'length', '100000000')
    .chain((name) => value.map((inner) => ({ [name as string]: inner }))),
  fc.constant<unknown>(JSON.parse('{"constructor":{"name":"x"},"toString":1,"valueOf":2}')),
);

/** Returns bodies of the class with valid, wrong, missing and unknown members. */
function bodiesOf(dto: Dto): fc.Arbitrary<object> {
  const names = getMetadataStorage()
    .getTargetValidationMetadatas(dto, '', false, false)
    .map(({ propertyName }) => propertyName);
  const any = fc.oneof(value, hostile, fc.array(hostile, { maxLength: 2 }));
  const members = Object.fromEntries(names.map((name) => [name, any])) as object;
  return fc.record({ ...members, unknown: any, constructor: any }, { requiredKeys: [] });
}

const pipe = new BodyPipe(false);

/** Returns the invalid members by ValidationPipe, or null for a valid body. */
async function atFault(dto: Dto, body: unknown): Promise<string[] | null> {
  try {
    await pipe.transform(structuredClone(body), { type: 'body', metatype: dto });
    return null;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return Object.keys(error.fields);
  }
}

describe('a body of any JSON', () => {
  it.each<[string, Dto]>(
    Object.entries({
      ReportPayoutBody,
      NewUser,
      NewWebhookEndpoint,
      WebhookEndpointChanges,
      SecretRotation,
      RecoveryRequest,
    }),
  )('is read as %s or refused with named fields, never with an unexpected error', async (_name, dto) => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(bodiesOf(dto), async (body) => {
        if ((await atFault(dto, body)) !== null) refused += 1;
      }),
      { numRuns: 2000 },
    );
    expect(refused).toBeGreaterThan(0);
  });
});
