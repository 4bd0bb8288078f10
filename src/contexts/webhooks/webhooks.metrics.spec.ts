import { expect, it } from '@jest/globals';
import { envelope } from './deliveries/published-events.service.js';
import { firstAttemptDelay, observeFirstAttempt } from './webhooks.metrics.js';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const ago = (ms: number): Date => new Date(NOW - ms);
const occurred = ago(4000).toISOString();
const body = envelope('d-1', {
  type: 'payout.received',
  occurredAt: occurred,
  merchantId: 'm-1',
  data: '{}',
});
const delivery = { body, attempts: 0, created_at: ago(3000), due_at: ago(3000) };

async function observed(over: Partial<typeof delivery>): Promise<number[]> {
  firstAttemptDelay.reset();
  observeFirstAttempt({ ...delivery, ...over }, new Date(NOW));
  const { values } = await firstAttemptDelay.get();
  return ['_sum', '_count'].map(
    (end) => values.find(({ metricName }) => metricName?.endsWith(end))?.value ?? 0,
  );
}

it.each<[string, Partial<typeof delivery>, number[]]>([
  ['since the event', {}, [4, 1]],
  ['since the creation of the delivery if its body has no time', { body: '{}' }, [3, 1]],
  ['since the event, even if the delivery was postponed briefly', { due_at: ago(500) }, [4, 1]],
  [
    'since the delivery was due if its merchant was suspended',
    { created_at: ago(400_000), due_at: ago(2000), body: body.replace(occurred, ago(400_000).toISOString()) },
    [2, 1],
  ],
  ['only once, not for a later attempt', { attempts: 1 }, [0, 0]],
])('the delay of a first attempt is measured %s', async (_, over, expected) => {
  expect(await observed(over)).toEqual(expected);
});
