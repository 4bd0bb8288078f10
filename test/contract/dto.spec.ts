import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { validateSync, type ValidationError } from 'class-validator';
import * as fc from 'fast-check';
import { PayoutReport } from '../../src/contexts/payouts/http/payout-dto.js';
import { itemsOf } from '../../src/contexts/tracking/domain/event-batch.js';
import { EventBatch } from '../../src/contexts/tracking/http/batch-dto.js';
import { NewUser } from '../../src/contexts/users/http/user-dto.js';
import { RecoveryRequest } from '../../src/contexts/webhooks/http/delivery-dto.js';
import {
  NewWebhookEndpoint,
  SecretRotation,
  WebhookEndpointChanges,
} from '../../src/contexts/webhooks/http/endpoint-dto.js';
import { isObject, membersOf, type Dto } from '../../src/platform/dto/field.js';
import { readDto, type FoundFault } from '../../src/platform/dto/read-dto.js';
import { validItem } from '../support/event-batches.js';

const ITEM_MEMBERS = ['event_name', 'payload', 'event_datetime', 'event_id', 'user_external_id', 'device_id'];

/** Values that some rule likes, and that others do not. */
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

/** Bodies for the class: some members right, some wrong, some absent, some unknown. */
function bodiesOf(dto: Dto): fc.Arbitrary<unknown> {
  const members = membersOf(dto).map(({ name, nested, many }) => {
    const inner = nested && (many ? fc.array(bodiesOf(nested()), { maxLength: 3 }) : bodiesOf(nested()));
    return [name, inner ? fc.oneof({ weight: 4, arbitrary: inner }, value) : value];
  });
  const unknown: fc.Arbitrary<unknown> = fc.jsonValue();
  const body = fc.record({ ...(Object.fromEntries(members) as object), unknown }, { requiredKeys: [] });
  return fc.oneof({ weight: 20, arbitrary: body }, fc.constant({}));
}

/** As class-validator wants it: instances of the classes, with what was sent in them. */
function instance(dto: Dto, body: unknown): object {
  const made = new dto() as Record<string, unknown>;
  for (const { name, nested, many } of membersOf(dto)) {
    const sent = (body as Record<string, unknown>)[name];
    const inner = (each: unknown): unknown => {
      // It would take an array in an array for objects.
      if (many && Array.isArray(each)) return 0;
      return nested && isObject(each) ? instance(nested(), each) : each;
    };
    if (sent !== undefined) made[name] = many && Array.isArray(sent) ? sent.map(inner) : inner(sent);
  }
  return made;
}

function pathsOf(errors: readonly ValidationError[], parent = ''): string[] {
  return errors.flatMap(({ property, constraints, children = [] }) => {
    const path = /^\d+$/.test(property) ? `${parent.slice(0, -1)}[${property}]` : `${parent}${property}`;
    const own = constraints?.['field'] === undefined ? [] : [path];
    // An element that is no object.
    const element = constraints?.['nestedValidation'] !== undefined && own.length === 0 ? [path] : [];
    // It looks into values of the wrong kind, where nothing is of use.
    return own.length > 0 ? own : [...element, ...pathsOf(children, `${path}.`)];
  });
}

/** Nearly valid batches: each rule is met now and then. */
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

describe('the check of event batches', () => {
  it('finds the first fault that the class of the body finds, and none where it finds none', () => {
    const found = { valid: 0, refused: 0 };
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: batch }, bodiesOf(EventBatch)), (body) => {
        const faults: FoundFault[] = [];
        readDto(EventBatch, body as Record<string, unknown>, faults);
        const [first] = faults;
        const verdict = verdictOf(body);
        found[verdict === null ? 'valid' : 'refused'] += 1;
        if (first === undefined) expect(verdict).toBeNull();
        else expect(verdict).toContain(first.path);
        if (first?.path.includes('.')) expect(verdict).toBe(`${first.path} ${first.message}`);
      }),
      { numRuns: 2000 },
    );
    expect(Math.min(found.valid, found.refused)).toBeGreaterThan(100);
  });
});

function verdictOf(body: unknown): string | null {
  try {
    itemsOf(body);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('readDto gives the verdict of class-validator, fault by fault', () => {
  it.each<[string, Dto]>(
    Object.entries({
      PayoutReport,
      EventBatch,
      NewUser,
      NewWebhookEndpoint,
      WebhookEndpointChanges,
      SecretRotation,
      RecoveryRequest,
    }),
  )('%s', (_name, dto) => {
    const verdicts = new Set<boolean>();
    fc.assert(
      fc.property(bodiesOf(dto), (body) => {
        const faults: FoundFault[] = [];
        readDto(dto, body as Record<string, unknown>, faults);
        const errors = validateSync(instance(dto, body), { forbidUnknownValues: false });
        expect(faults.map(({ path }) => path).sort()).toEqual(pathsOf(errors).sort());
        verdicts.add(faults.length === 0);
      }),
      { numRuns: 2000 },
    );
    expect(verdicts.has(false)).toBe(true);
  });
});
