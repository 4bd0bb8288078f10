import { describe, expect, it } from '@jest/globals';
import { SCOPES } from '../../../src/contexts/access/operators/roles.js';
import { RESOURCES } from './index.js';
import { deliveries } from './webhooks.js';
import { operations, pageOfKind } from './operations.js';
import { isFailing } from '../../kit/common/webhooks.js';

describe.each(RESOURCES.map((resource) => [resource.name, resource] as const))(
  'the pages of %s',
  (_, resource) => {
    const tables = [
      resource.fields,
      resource.details ?? [],
      ...[resource.first ?? [], resource.related ?? []].flat().map(({ fields }) => fields),
    ];

    it('name each column once, since columns are selected by name', () => {
      for (const fields of tables) {
        const labels = fields.map(({ label }) => label);
        expect(new Set(labels).size).toBe(labels.length);
      }
    });

    it('require only scopes that exist', () => {
      const writes = [...(resource.create ?? []), ...(resource.actions ?? [])];
      const scopes = [resource, ...writes, ...(resource.links ?? [])].flatMap(({ scope }) => scope ?? []);
      expect(SCOPES).toEqual(expect.arrayContaining(scopes));
    });

    it('encode ids that come from outside', () => {
      const row = { id: '../../operators?x=#', request_id: '../../operators?x=#' };
      const paths = (resource.actions ?? []).map(({ path }) => path(row, {}));
      const links = [resource.open?.(row) ?? '', ...(resource.links ?? []).map(({ href }) => href(row))];
      expect([...paths, ...links].filter((path) => path.includes('../') || path.includes('#'))).toEqual([]);
    });
  },
);

describe('the decisions on an operation', () => {
  const labels = (status: string, me: string, decided = 'orders.record_refund'): string[] => {
    const row = { name: 'orders.record_refund', status, requested_by: { operator_id: 'ada' } };
    const person = { me, can: () => true, mayDecide: (name: string): boolean => name === decided };
    return operations.actions!.filter(({ when }) => when!(row, person)).map(({ label }) => label);
  };

  it('are offered to another operator, while the requester can only withdraw', () => {
    expect(labels('pending_approval', 'ada')).toEqual(['Withdraw']);
    expect(labels('pending_approval', 'grace')).toEqual(['Approve', 'Reject']);
    expect(labels('unconfirmed', 'ada')).toEqual([]);
    expect(labels('unconfirmed', 'grace')).toEqual(['Confirm']);
    expect(labels('executed', 'grace')).toEqual([]);
  });

  it('are offered only to operators who may decide on operations of that name', () => {
    for (const status of ['pending_approval', 'unconfirmed'])
      for (const me of ['ada', 'grace']) expect(labels(status, me, 'users.erase')).toEqual([]);
  });

  it('send a reason and no ticket', () => {
    for (const { fields, also } of operations.actions!)
      expect([fields ?? [], also!].flat().map(({ name }) => name)).toEqual(['reason']);
  });
});

describe('resending a delivery', () => {
  const ada = { me: 'ada', can: () => true, mayDecide: () => false };
  const [resend] = deliveries.actions!;
  const isOffered = (row: object): boolean => resend!.when!({ type: 'payout.received', ...row }, ada);

  it.each(['pending', 'succeeded', 'exhausted', 'dropped'])('is offered while the status is %s', (status) => {
    for (const endpoint of [{ status: 'enabled' }, undefined])
      expect(isOffered({ status, endpoint })).toBe(true);
  });

  it('is not offered for a disabled endpoint, except for a test, nor for a deleted endpoint', () => {
    const endpoint = { status: 'disabled' };
    expect(isOffered({ endpoint })).toBe(false);
    expect(isOffered({ endpoint, type: 'webhook_endpoint.test' })).toBe(true);
    expect(isOffered({ endpoint: null })).toBe(false);
  });
});

it.each(['merchants', 'users', 'credentials', 'operators', 'orders'])(
  'each write to %s requires the revision that its dialog displays',
  (name) => {
    const { actions } = RESOURCES.find((resource) => resource.name === name)!;
    expect(actions!.map(({ label, revision }) => [label, revision])).toEqual(
      actions!.map(({ label }) => [label, true]),
    );
  },
);

it('a search result has a page if the console knows its kind', () => {
  expect(pageOfKind('delivery', '7')).toBe('/deliveries/7');
  expect(pageOfKind('webhook_endpoint', '7')).toBe('/deliveries?endpoint_id=7');
  expect(pageOfKind('javascript:alert(1)', '7')).toBeNull();
  expect(pageOfKind('payout', '')).toBeNull();
});

it('an endpoint that its merchant disabled does not count as failing', () => {
  expect(isFailing({ status: 'disabled', disabled_cause: 'merchant', failure_count: 0 })).toBe(false);
  expect(isFailing({ status: 'disabled', disabled_cause: 'gone', failure_count: 0 })).toBe(true);
  expect(isFailing({ status: 'enabled', disabled_cause: null, failure_count: 3 })).toBe(true);
});
