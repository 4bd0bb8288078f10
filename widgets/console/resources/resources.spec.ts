import { describe, expect, it } from '@jest/globals';
import { SCOPES } from '../../../src/contexts/access/domain/roles.js';
import { RESOURCES } from './index.js';
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

    it('are for scopes that exist', () => {
      const writes = [...(resource.create ?? []), ...(resource.actions ?? [])];
      const scopes = [resource, ...writes, ...(resource.links ?? [])].map(({ scope }) => scope);
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

it('an approval is for another person, a withdrawal for oneself', () => {
  const row = { status: 'pending_approval', requested_by: { operator_id: 'ada' } };
  const labels = (me: string) =>
    operations.actions!.filter(({ when }) => when!(row, me)).map(({ label }) => label);
  expect(labels('ada')).toEqual(['Withdraw']);
  expect(labels('grace')).toEqual(['Approve', 'Reject']);
});

it('what search finds has a page, and what this console does not know has none', () => {
  expect(pageOfKind('delivery', '7')).toBe('/deliveries/7');
  expect(pageOfKind('webhook_endpoint', '7')).toBe('/deliveries?endpoint_id=7');
  expect(pageOfKind('javascript:alert(1)', '7')).toBeNull();
  expect(pageOfKind('payout', '')).toBeNull();
});

it('an endpoint that its merchant disabled is not in trouble', () => {
  expect(isFailing({ status: 'disabled', disabled_cause: 'merchant', failure_count: 0 })).toBe(false);
  expect(isFailing({ status: 'disabled', disabled_cause: 'gone', failure_count: 0 })).toBe(true);
  expect(isFailing({ status: 'enabled', disabled_cause: null, failure_count: 3 })).toBe(true);
});
