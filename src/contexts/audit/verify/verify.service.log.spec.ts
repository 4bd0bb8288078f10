import { expect, it } from '@jest/globals';
import { ALL_CONTEXTS } from '../../../composition.js';
import { WHOLE } from './streams.js';
import { LogAudit } from './verify.service.js';

const STREAM = 'payout-0d5c1f0e-6c1f-4b6e-9a7b-0d5c1f0e6c1f';

/** The audit of a payout that begins with an event of this type, and expires. */
function auditOf(type: string): LogAudit {
  const audit = new LogAudit({
    contexts: ALL_CONTEXTS,
    booksEnd: '9',
    extent: WHOLE,
    allowed: new Set(),
    token: null,
  });
  [type, 'payout.expired.v1'].forEach((each, revision) => {
    const data = { payout_id: STREAM.slice('payout-'.length) };
    const place = { stream: STREAM, revision, position: String(revision + 1) };
    audit.add({ ...place, id: place.position, type: each, data, metadata: {}, recordedAt: new Date(0) });
  });
  return audit;
}

it('the audit accepts events that follow an event of a newer version in the same stream', () => {
  const audit = auditOf('payout.reported.v9');
  expect(audit.violations.listed).toEqual([]);
  expect([...audit.unknown.values()]).toEqual([{ type: 'payout.reported.v9', count: 1, position: '1' }]);
});

it('the audit rejects an outcome of a payout that was never reported', () => {
  expect(auditOf('payout.expired.v1').violations.count).toBeGreaterThan(0);
});

it('the audit reports an event that lacks its fields and continues', () => {
  const audit = auditOf('payout.received.v2');
  expect(audit.violations.listed.map(({ rule }) => rule)).toContainEqual(
    expect.stringContaining('payout.received.v2: its data must be valid for its type'),
  );
  expect(audit.streams.events).toBe(2);
});
