import { OFTEN_MS, useKit, useOne } from '../kit/data.js';
import { rowsAt, textAt, type Row } from '../kit/fields.js';
import { Heading } from '../kit/frame.js';
import { Counted, droppedMatter, Item, type Matter } from '../kit/matters.js';
import { isFailing } from '../kit/common/webhooks.js';
import { listOf, toPage } from '../kit/resource.js';
import { shortened } from '../kit/text.js';

/** The open problems that may need a person, the most urgent first. */
const MATTERS: readonly Matter[] = [
  {
    title: 'Approvals pending',
    scope: 'operations:read',
    path: '/operations',
    query: { status: 'pending_approval' },
    next: 'A colleague waits for a second person. Open each, read its reason, approve or reject. After 72 hours they lapse.',
  },
  {
    title: 'Suspensions to confirm',
    scope: 'operations:read',
    path: '/operations',
    query: { status: 'unconfirmed' },
    next: 'A merchant is stopped. Within 24 hours somebody else confirms that this was right, or reinstates the merchant.',
  },
  {
    title: 'Payouts overdue',
    scope: 'payouts:read',
    path: '/payouts',
    query: { overdue: 'true' },
    next: 'Open one: it says what the last check of the chain found and what to do. If all say the same, start with the nodes under System.',
  },
  {
    title: 'Webhook endpoints failing',
    scope: 'webhooks:read',
    path: '/webhook_endpoints',
    query: {},
    among: {
      counts: isFailing,
      name: (row) => textAt(row, 'url'),
      open: listOf('deliveries', 'endpoint_id'),
    },
    next: 'Open one, then its newest delivery: the response of the receiver is there. The merchant mends the receiver; then resend.',
  },
  droppedMatter(
    'webhooks:read',
    'Their endpoints were disabled. Open one: it says whether the endpoint is enabled again. Then resend, or the merchant recovers all from a time on.',
  ),
  {
    title: 'Orders to refund',
    scope: 'orders:read',
    path: '/orders',
    query: { refundable: 'true' },
    next: 'Check the deposit at the provider first, send what remains, record its transaction on the order.',
  },
  {
    title: 'Onboardings in review',
    scope: 'users:read',
    path: '/users',
    query: { state: 'onboarding' },
    among: {
      counts: (row) => /review/.test(textAt(row, 'onboarding.waiting_for')),
      name: (row) => shortened(textAt(row, 'id')),
      open: toPage('users', 'id'),
    },
    next: 'The identity provider wants a person to decide. Decide it in its dashboard; the user stays in onboarding until then.',
  },
];

export function Attention() {
  const { can } = useKit();
  const visible = MATTERS.filter(({ scope }) => can(scope));
  return (
    <>
      <div class="head">
        <Heading title="What needs attention">What needs attention</Heading>
      </div>
      <p class="lead">
        Counts are read every 15 seconds. Nothing here is urgent while they are zero; for anything else,
        search for its id, phone number, wallet or hash.
      </p>
      <ul class="matters">
        {visible.map((matter) => (
          <Counted key={matter.title} matter={matter} />
        ))}
        {can('system:read') && <Halted />}
      </ul>
    </>
  );
}

function Halted() {
  const { data, isError } = useOne('/system', { every: OFTEN_MS });
  const halted = rowsAt(data?.body, 'subscriptions').filter((row) => textAt(row, 'halted_at') !== '');
  const down = rowsAt(data?.body, 'nodes').filter((row) => textAt(row, 'status') !== 'ok');
  const count = (found: readonly Row[]): string =>
    isError ? '!' : data === undefined ? '…' : String(found.length);
  return (
    <>
      <Item
        title="Subscriptions halted"
        href="/system"
        text={count(halted)}
        calm={halted.length === 0 && !isError}
        next="Read models and webhooks behind them are frozen. System says since when; let the event type pass, or roll back the release."
      />
      <Item
        title="Nodes of the chain in trouble"
        href="/system"
        text={count(down)}
        calm={down.length === 0 && !isError}
        next="Payouts and deposits wait while too few nodes agree; nothing is lost. Restart the node or configure another one."
      />
    </>
  );
}
