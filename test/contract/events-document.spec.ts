import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { CLAIM_EVENTS } from '../../src/event-store/claims.js';
import { MERCHANT_EVENTS } from '../../src/merchants/contract.js';
import { ONBOARDING_EVENTS } from '../../src/onboarding/contract.js';
import { PAYOUT_EVENTS } from '../../src/payouts/contract.js';
import { USER_EVENTS } from '../../src/users/contract.js';
import { WEBHOOK_TEST_REQUESTED } from '../../src/webhooks/contract.js';
import { WEBHOOK_ENDPOINT_EVENTS } from '../../src/webhooks/domain/webhook-endpoints.js';
import { WEBHOOK_RECOVERY_REQUESTED } from '../../src/webhooks/domain/webhook-recovery.js';
import { WEBHOOK_RESEND_REQUESTED } from '../../src/webhooks/domain/webhook-resend.js';

describe('docs/events.md', () => {
  it('tells of every stored event, and of no other', () => {
    const document = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
    const told = [...document.matchAll(/^\| `([a-z_]+\.[a-z_]+\.v[0-9]+)` \|/gm)].map((match) => match[1]!);
    const stored = [
      ...MERCHANT_EVENTS,
      ...USER_EVENTS,
      ...ONBOARDING_EVENTS,
      ...PAYOUT_EVENTS,
      ...WEBHOOK_ENDPOINT_EVENTS,
      WEBHOOK_TEST_REQUESTED,
      WEBHOOK_RESEND_REQUESTED,
      WEBHOOK_RECOVERY_REQUESTED,
      ...CLAIM_EVENTS.map(({ type }) => type),
    ];
    expect(told.sort()).toEqual([...stored].sort());
  });
});
