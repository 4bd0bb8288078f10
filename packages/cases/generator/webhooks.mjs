import { Webhook } from 'standardwebhooks';
import { hmacHex, TEXTS } from './bytes.mjs';

const NOW = 1_750_000_000;
const ID = '0b5a3d7e-8c1f-4f9e-9d57-3f0f6f0e8a11';
const KEYS = ['first key of an endpoint', 'second key, 25 bytes long', Buffer.alloc(64, 7)].map((key) =>
  Buffer.from(key),
);
const [FIRST, SECOND, LONG] = KEYS.map((key) => `whsec_${key.toString('base64')}`);
const BODY = JSON.stringify({ id: ID, type: 'payout.received', data: { payout_id: 'p', amount: '12.50' } });

/** One event of each type of orders (docs/contract.md 13.9). */
const order = (status, more, amount_refundable = '0') => ({
  ...{ order_id: 'o', api_key: 'k', status, amount_refundable },
  ...more,
});
const exchanged = { amount_from: '100', amount_to: '0.5', withdraw_transaction_hash: '5h' };
const ORDERS = {
  'order.completed': order('completed', exchanged),
  'order.failed': order('failed', { reason: 'deposit_too_low' }, '40'),
  'order.refundable': order('completed', { cause: 'late_deposit' }, '7.5'),
  'order.refunded': order('refunded', { amount: '40', refund_transaction_hash: null }),
};

const NO_MATCH = 'No matching signature found';
const MISSING = 'Missing required headers';
const NO_JSON = 'The body is no JSON';
const NO_SECRET = 'The secret is no signing secret';

const signatureOf = (body, { key = KEYS[0], id = ID, seconds = NOW } = {}) =>
  `v1,${Buffer.from(hmacHex(key, Buffer.from(`${id}.${seconds}.${body}`)), 'hex').toString('base64')}`;

/** A delivery that is genuine but for what is given. `reason` is null where it is to be accepted. */
function delivery(name, reason, { secrets = [FIRST], body = BODY, sent = {}, now = NOW, without = [] } = {}) {
  const headers = {
    'webhook-id': ID,
    'webhook-timestamp': String(NOW),
    'webhook-signature': signatureOf(body),
    ...sent,
  };
  for (const each of without) delete headers[each];
  return { name, secrets, headers, body, now, reason };
}

const at = (timestamp, seconds) => ({
  'webhook-timestamp': timestamp,
  'webhook-signature': signatureOf(BODY, { seconds }),
});
const signed = (signature) => ({ 'webhook-signature': signature });
const GENUINE = signatureOf(BODY);
const OTHER = signatureOf(BODY, { key: KEYS[1] });

const DELIVERIES = [
  delivery('a genuine delivery', null),
  delivery('a secret without its prefix', null, { secrets: [FIRST.slice(6)] }),
  delivery('a secret with padding', null, { secrets: [SECOND], sent: signed(OTHER) }),
  delivery('a secret without its padding', null, {
    secrets: [SECOND.replace(/=+$/, '')],
    sent: signed(OTHER),
  }),
  delivery('a secret of 64 bytes', null, {
    secrets: [LONG],
    sent: signed(signatureOf(BODY, { key: KEYS[2] })),
  }),
  ...Object.entries(TEXTS).map(([name, text]) =>
    delivery(`a body with ${name}`, null, { body: JSON.stringify({ text }) }),
  ),
  delivery('a body with spaces and line breaks', null, { body: '{ "a" :\r\n 1 }\n' }),
  delivery('a body that is a number', null, { body: '5' }),
  ...Object.entries(ORDERS).map(([type, data]) =>
    delivery(`an event ${type}`, null, { body: JSON.stringify({ id: ID, type, data }) }),
  ),
  delivery('an event of a type that is newer than the client', null, {
    body: '{"type":"payout.returned","data":{"x":1}}',
  }),
  delivery('a body that is no JSON', NO_JSON, { body: 'no JSON' }),
  delivery('a body with a number that JSON lacks', NO_JSON, { body: '{"a":NaN}' }),
  delivery('an empty body', NO_JSON, { body: '' }),

  delivery('another body', NO_MATCH, { sent: signed(signatureOf(`${BODY} `)) }),
  delivery('another id', NO_MATCH, { sent: { 'webhook-id': 'another' } }),
  delivery('another timestamp', NO_MATCH, { sent: { 'webhook-timestamp': String(NOW + 1) } }),
  delivery('another secret', NO_MATCH, { secrets: [SECOND] }),
  delivery('a signature in another letter case', NO_MATCH, {
    sent: signed(GENUINE.replace(/[a-z]{2}/, (two) => two.toUpperCase())),
  }),
  delivery('a signature without its padding', NO_MATCH, { sent: signed(GENUINE.replace(/=$/, '')) }),
  delivery('a signature that is cut off', NO_MATCH, { sent: signed(GENUINE.slice(0, -5)) }),
  delivery('a signature in hex', NO_MATCH, {
    sent: signed(`v1,${hmacHex(KEYS[0], `${ID}.${NOW}.${BODY}`)}`),
  }),
  delivery('a signature with other letters', NO_MATCH, { sent: signed('v1,é') }),

  delivery('two secrets, signed with the first', null, { secrets: [FIRST, SECOND] }),
  delivery('two secrets, signed with the second', null, { secrets: [FIRST, SECOND], sent: signed(OTHER) }),
  delivery('two secrets, signed with neither', NO_MATCH, {
    secrets: [FIRST, SECOND],
    sent: signed(signatureOf(BODY, { key: KEYS[2] })),
  }),
  delivery('a secret that is none, then the right one', null, { secrets: ['whsec_', FIRST] }),
  delivery('the right secret and a body that is no JSON, then another', NO_MATCH, {
    secrets: [FIRST, SECOND],
    body: 'x',
  }),
  delivery('two signatures, the first is right', null, { sent: signed(`${GENUINE} ${OTHER}`) }),
  delivery('two signatures, the second is right', null, { sent: signed(`${OTHER} ${GENUINE}`) }),
  delivery('two signatures, both wrong', NO_MATCH, { sent: signed(`${OTHER} ${OTHER}`) }),
  delivery('a signature of another version', NO_MATCH, { sent: signed(GENUINE.replace('v1', 'v1a')) }),
  delivery('a signature of another version and a right one', null, { sent: signed(`v2,abc ${GENUINE}`) }),
  delivery('a signature without a version', NO_MATCH, { sent: signed(GENUINE.slice(3)) }),
  delivery('a version without a signature', NO_MATCH, { sent: signed('v1') }),
  delivery('a version with an empty signature', NO_MATCH, { sent: signed('v1,') }),
  delivery('more after a second comma', null, { sent: signed(`${GENUINE},x`) }),
  delivery('several spaces between signatures', null, { sent: signed(`${OTHER}   ${GENUINE}`) }),

  delivery('no secret', NO_SECRET, { secrets: [] }),
  delivery('an empty secret', NO_SECRET, { secrets: [''] }),
  delivery('a secret of its prefix alone', NO_SECRET, { secrets: ['whsec_'] }),
  delivery('a secret that is no base64', NO_SECRET, { secrets: ['whsec_not base64!'] }),

  delivery('a timestamp as old as it may be', null, { now: NOW + 300 }),
  delivery('a timestamp that is too old', 'Message timestamp too old', { now: NOW + 301 }),
  delivery('a timestamp of a day ago', 'Message timestamp too old', { now: NOW + 86_400 }),
  delivery('a timestamp as early as it may be', null, { now: NOW - 300 }),
  delivery('a timestamp that is too early', 'Message timestamp too new', { now: NOW - 301 }),
  delivery('a timestamp in milliseconds', 'Message timestamp too new', {
    sent: at(`${NOW}000`, `${NOW}000`),
  }),
  delivery('a timestamp in words', 'Invalid Signature Headers', { sent: at('now', 'now') }),
  delivery('a timestamp of thousands of digits', 'Message timestamp too new', {
    sent: { 'webhook-timestamp': '9'.repeat(5000) },
  }),
  delivery('a timestamp below nothing', 'Message timestamp too old', { sent: at(`-${NOW}`, `-${NOW}`) }),
  delivery('a timestamp with letters after it', null, { sent: at(`${NOW}abc`, NOW) }),
  delivery('a timestamp with a fraction', null, { sent: at(`${NOW}.9`, NOW) }),
  delivery('a timestamp with a plus and spaces', null, { sent: at(` +${NOW} `, NOW) }),

  ...['webhook-id', 'webhook-timestamp', 'webhook-signature'].flatMap((header) => [
    delivery(`no ${header}`, MISSING, { without: [header] }),
    delivery(`an empty ${header}`, MISSING, { sent: { [header]: '' } }),
  ]),
  delivery('no headers', MISSING, { without: ['webhook-id', 'webhook-timestamp', 'webhook-signature'] }),
  delivery('headers in another letter case', null, {
    sent: { 'Webhook-Id': ID, 'WEBHOOK-TIMESTAMP': String(NOW), 'Webhook-Signature': GENUINE },
    without: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  }),
  delivery('headers of the older name alone', MISSING, {
    sent: { 'svix-id': ID, 'svix-timestamp': String(NOW), 'svix-signature': GENUINE },
    without: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  }),
  delivery('a header as a list of one', null, { sent: { 'webhook-id': [ID] } }),
  delivery('a header as a list of two', NO_MATCH, { sent: { 'webhook-id': [ID, ID] } }),
  delivery('a header that is null', MISSING, { sent: { 'webhook-id': null } }),
  delivery('other headers too', null, {
    sent: { host: 'example.com', 'content-type': 'application/json', cookie: null },
  }),
];

/** Each verdict is also that of standardwebhooks, but for an empty body, which it accepts and which is no event. */
export function webhooks() {
  for (const each of DELIVERIES) {
    const isAccepted = each.reason === null || each.name === 'an empty body';
    if (byPackage(each) !== isAccepted) throw new Error(`standardwebhooks differs: ${each.name}`);
  }
  return DELIVERIES;
}

function byPackage({ secrets, headers, body, now }) {
  const texts = Object.entries(headers).map(([name, value]) => [name, value === null ? '' : String(value)]);
  const clock = Date.now;
  Date.now = () => now * 1000;
  try {
    return secrets.some((secret) => {
      try {
        new Webhook(secret).verify(body, Object.fromEntries(texts));
        return true;
      } catch {
        return false;
      }
    });
  } finally {
    Date.now = clock;
  }
}
