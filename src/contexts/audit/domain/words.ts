/** Data of a stored event. */
type Data = Readonly<Record<string, unknown>>;
type Words = (data: Data) => readonly string[];

/** What processes of the service do, by the name under which they write. */
const PROCESSES: Readonly<Record<string, string>> = {
  'payouts.verification': 'the worker that looks payouts up on the chain',
  'users.deactivation': 'the worker that completes deactivations',
  'onboarding.steps': 'the worker that takes onboardings on',
  'exchange.watch': 'the worker that watches orders',
  'webhooks.disabling': 'the worker that disables endpoints',
  operator: 'an operator, with a program of the command line',
};

/** `payouts.verification, the worker that looks payouts up on the chain`; a route stays as it is. */
export function actorInWords(actor: string): string {
  const does = PROCESSES[actor];
  return does === undefined || actor === 'operator' ? (does ?? actor) : `${actor}, ${does}`;
}

const WORDS: Readonly<Record<string, Words>> = {
  'payout.reported.v1': (data) => [
    `${text(data, 'amount')} USDC to user ${text(data, 'user_id')}`,
    `transaction ${text(data, 'transaction_hash').trim()}`,
    `on chain ${text(data, 'chain_id')}, looked for until ${text(data, 'expires_at')}`,
  ],
  'payout.received.v2': received,
  'payout.expired.v1': (data) => [text(data, 'reason')],
  'order.created.v1': (data) => [
    `${text(data, 'amount_from')} for ${text(data, 'amount_to')} of ${text(data, 'pair_id')}, until ${text(data, 'expires_at')}`,
    `paid out to ${text(data, 'withdraw_address')}`,
  ],
  'order.marked_as_paid.v1': (data) => [
    `the caller says that it is paid; waits until ${text(data, 'waits_until')}`,
  ],
  'order.deposit_received.v1': deposit,
  'order.late_deposit_recorded.v1': (data) => [...deposit(data), 'too late: never exchanged by itself'],
  'order.deposit_missing.v1': (data) => [
    `${text(data, 'amount')} did not come: a reorganisation took it off the chain`,
    `transaction ${text(data, 'transaction_hash')}`,
  ],
  'order.processing_started.v1': (data) => [
    `${text(data, 'amount_from')} is exchanged for ${text(data, 'amount_to')}, ${text(data, 'refundable')} is refundable`,
  ],
  'order.completed.v1': (data) => [
    `${text(data, 'amount_to')} paid out`,
    `transaction ${text(data, 'withdraw_transaction_hash')}`,
  ],
  'order.failed.v1': (data) => [`${text(data, 'reason')}; ${text(data, 'refundable')} is refundable`],
  'order.cancelled.v1': (data) => [`${text(data, 'refundable')} is refundable`],
  'order.expired.v1': () => ['nothing was paid in time'],
  'user.activated.v1': (data) => [`wallet ${text(data, 'issuer_wallet_address')}`],
};

/** Fields that say nothing beside the line they would stand on. */
const LEFT_OUT = new Set(['merchant_id', 'user_id', 'payout_id', 'order_id', 'endpoint_id', 'at']);

/** What an event says, in lines. `sealed`: names of its fields that stay sealed. */
export function inWords(type: string, data: Data, sealed: ReadonlySet<string>): readonly string[] {
  const words = WORDS[type];
  if (words !== undefined) return words(data);
  const fields = Object.entries(data)
    .filter(([name, value]) => !LEFT_OUT.has(name) && !name.endsWith('_at') && value !== null)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${sealed.has(name) ? '(sealed)' : told(value)}`)
    .join(', ');
  return fields === '' ? [] : [fields];
}

/** `payout.received`: a stored name without its version. */
export function bareName(type: string): string {
  return type.replace(/\.v\d+$/, '');
}

function received(data: Data): readonly string[] {
  return [
    `${text(data, 'amount')} USDC, found in block ${text(data, 'block_number')}`,
    `transaction ${text(data, 'transaction_hash').trim()}, log ${text(data, 'log_index')}`,
  ];
}

function deposit(data: Data): readonly string[] {
  return [
    `${text(data, 'amount')} in a block of ${text(data, 'deposited_at')}`,
    `transaction ${text(data, 'transaction_hash')}`,
  ];
}

function text(data: Data, name: string): string {
  return told(data[name]);
}

function told(value: unknown): string {
  if (value === undefined || value === null) return 'not known';
  if (typeof value !== 'string') return JSON.stringify(value);
  return INSTANT.test(value) ? inUtc(value) : value;
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

/** `2026-01-31 12:00:00.123`, of a time in ISO 8601 in UTC. */
export function inUtc(iso: string): string {
  return iso.replace('T', ' ').replace('Z', '');
}
