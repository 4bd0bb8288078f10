import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { getMetadataStorage } from 'class-validator';
import * as fc from 'fast-check';
import { ReportPayoutBody } from '../../src/contexts/payouts/payouts/payouts.dto.js';
import { countItems } from '../../src/contexts/tracking/batches/event-batch.js';
import { EventBatch } from '../../src/contexts/tracking/batches/events.controller.js';
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
import { validItem } from '../support/tracking/event-batches.js';

const ITEM_MEMBERS = ['event_name', 'payload', 'event_datetime', 'event_id', 'user_external_id', 'device_id'];

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

/** Values that JSON parsers accept and that break code which trusts names of members. */
const hostile = fc.oneof(
  fc
    .constantFrom<unknown>('constructor', 'prototype', 'toString', 'then', 'length', '100000000')
    .chain((name) => value.map((inner) => ({ [name as string]: inner }))),
  fc.constant<unknown>(JSON.parse('{"constructor":{"name":"x"},"toString":1,"valueOf":2}')),
);

/** Bodies for the class: some members right, some wrong, some absent, some unknown. */
function bodiesOf(dto: Dto): fc.Arbitrary<object> {
  const names = getMetadataStorage()
    .getTargetValidationMetadatas(dto, '', false, false)
    .map(({ propertyName }) => propertyName);
  const any = fc.oneof(value, hostile, fc.array(hostile, { maxLength: 2 }));
  const members = Object.fromEntries(names.map((name) => [name, any])) as object;
  return fc.record({ ...members, unknown: any, constructor: any }, { requiredKeys: [] });
}

/** Nearly valid batches, which meet each rule now and then. */
const batch = fc.record({
  events: fc.array(
    fc
      .oneof(
        {
          weight: 9,
          arbitrary: fc.tuple(
            validItem,
            fc.dictionary(fc.constantFrom(...ITEM_MEMBERS), value, { maxKeys: 1 }),
          ),
        },
        { weight: 1, arbitrary: fc.tuple(fc.constant(null), fc.constant({})) },
      )
      .map(([item, over]) => item && { ...item, ...over }),
    { maxLength: 4 },
  ),
});

const pipe = new BodyPipe(false);

/** The names of the members at fault by ValidationPipe; null for a valid body. */
async function atFault(dto: Dto, body: unknown): Promise<string[] | null> {
  try {
    await pipe.transform(structuredClone(body), { type: 'body', metatype: dto });
    return null;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return Object.keys(error.fields);
  }
}

describe('the check of event batches', () => {
  it('refuses what the class of the body refuses, for a member that the class names, and nothing else', async () => {
    const found = { valid: 0, refused: 0 };
    const bodies = fc.oneof({ weight: 9, arbitrary: batch }, bodiesOf(EventBatch));
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const names = await atFault(EventBatch, body);
        const verdict = verdictOf(body);
        found[verdict === null ? 'valid' : 'refused'] += 1;
        if (names === null) expect(verdict).toBeNull();
        else expect(names.some((name) => verdict?.includes(name))).toBe(true);
      }),
      { numRuns: 2000 },
    );
    expect(Math.min(found.valid, found.refused)).toBeGreaterThan(100);
  });
});

function verdictOf(body: unknown): string | null {
  try {
    countItems(body);
    return null;
  } catch (error) {
    return (error as Error).message;
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
  )('is read as %s or refused naming members, and is never an unexpected error', async (_name, dto) => {
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
