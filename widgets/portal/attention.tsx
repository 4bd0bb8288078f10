import { isFailing } from '../kit/common/webhooks.js';
import { OFTEN_MS, useKit, useOne } from '../kit/data.js';
import { textAt } from '../kit/fields.js';
import { Heading } from '../kit/frame.js';
import { Counted, droppedMatter, Item, LAST_DAYS, type Matter } from '../kit/matters.js';
import { toPage } from '../kit/resource.js';
import { grouped } from '../kit/text.js';
import { limitIn, usageToday } from './limit.js';
import { WHOLE } from './resources/webhooks.js';

/** The matters that may need a person of the merchant now, the most urgent first. */
const MATTERS: readonly Matter[] = [
  {
    title: 'Endpoints failing',
    scope: 'endpoints:read',
    path: '/endpoints',
    query: WHOLE,
    among: { counts: isFailing, name: (row) => textAt(row, 'url'), open: toPage('endpoints', 'id') },
    next: 'Open one: its newest deliveries have the responses of your receiver. A disabled endpoint misses what happens until you enable it.',
  },
  {
    title: 'Deliveries exhausted, last 7 days',
    scope: 'deliveries:read',
    path: '/deliveries',
    query: { status: 'exhausted', from: LAST_DAYS },
    next: 'No further attempt follows. Repair the receiver, then resend each, or recover the endpoint from a time on.',
  },
  droppedMatter(
    'deliveries:read',
    'Their endpoint was disabled. Enable it, then resend each, or recover the endpoint from a time on.',
  ),
  {
    title: 'Payouts expired, last 7 days',
    scope: 'payouts:read',
    path: '/payouts',
    query: { status: 'expired', created_from: LAST_DAYS },
    next: 'The transfer was not confirmed in time. Open one for the reason; if the money was sent, report the payout again with the right transaction.',
  },
];

export function Attention() {
  const { can } = useKit();
  return (
    <>
      <div class="head">
        <Heading title="What needs attention">What needs attention</Heading>
      </div>
      <p class="lead">Nothing here needs you while the counts are zero.</p>
      <ul class="matters">
        {MATTERS.filter(({ scope }) => can(scope)).map((matter) => (
          <Counted key={matter.title} matter={matter} />
        ))}
        {can('usage:read') && <OfToday />}
      </ul>
    </>
  );
}

/** Refusals of this day, and how much of the limit is used. */
function OfToday() {
  const { can } = useKit();
  const { data, isError } = useOne('/usage', { every: OFTEN_MS });
  const today = usageToday(data?.body);
  const { used, limit, isClose } = limitIn(data?.body);
  const text = (found: string): string => (isError ? '!' : data === undefined ? '…' : found);
  const refused = textAt(today, 'refused') || '0';
  return (
    <>
      <Item
        title="Requests refused today"
        href={can('requests:read') ? '/requests' : '/usage'}
        text={text(grouped(refused))}
        calm={refused === '0' && !isError}
        next="Each has the reason; of a wrong signature also the text that the service expected to be signed."
      />
      <Item
        title="Requests in this minute"
        href="/usage"
        text={text(grouped(used))}
        calm={!isClose && !isError}
        next={`The limit is ${grouped(limit)} a minute; beyond it requests are refused with 429. Spread them, or have the limit raised.`}
      />
    </>
  );
}
