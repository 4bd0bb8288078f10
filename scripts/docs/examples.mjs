import { createHash } from 'node:crypto';
import { nameOf, resolve } from './document.mjs';

const ADDRESS = '0x9509300D1CD1c2BC6F09b4a08213a2A564748083';
const SOLANA = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const TIME = '2026-01-31T12:00:00.000Z';

/** What properties of a name contain in examples. A test holds every example against its schema. */
const BY_NAME = {
  addresses: ['203.0.113.0/24'],
  attempts: 1,
  callbacks: ['https://shop.example/onboarded'],
  chain: 'solana',
  chain_id: 8453,
  checks: { database: { status: 'ok' } },
  code: 'EUR',
  total_count: 1,
  custom_metadata: { invoice: 'A-7' },
  deposit_address: ADDRESS,
  description: 'Payouts of the shop',
  detail: 'The request is invalid',
  device_id: 'device-1',
  email: 'ada@example.com',
  errors: { phone_number: ['must be in E.164 form'] },
  event_id: '6f2a1c34-9d0e-4b7a-8c55-0e1f2a3b4c5d',
  event_name: 'level_up',
  external_id: 'customer-7',
  failures: { timeout: 2 },
  fiats: [{ code: 'EUR', minimum: '20', maximum: '15000' }],
  http_status: 204,
  icon_url: 'http://127.0.0.1:3000/icons/usdc.svg',
  ip_allow_list: ['203.0.113.0/24'],
  issuer_wallet_address: ADDRESS,
  login_url: 'http://127.0.0.1:3003/login#code',
  maximum: '10000',
  merchants: null,
  message: 'This is a test',
  method: 'POST',
  minimum: '10',
  name: 'Ada',
  origins: ['https://shop.example'],
  overlap_seconds: 3600,
  pair_id: 'USDCSOL',
  pair_ids: ['USDCSOL'],
  path: '/merchants/v1/payouts/report',
  payload: { level: 3 },
  phone_number: '+15550001111',
  public_key: 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=',
  query_names: ['status'],
  reason: 'Requested in ticket 4711',
  recipient: ADDRESS,
  requests_per_minute: 600,
  return_url: 'https://backoffice.example/',
  role: 'support',
  roles: ['api', 'worker'],
  signed_url: `http://127.0.0.1:3002/widget?api_key=${uuid('exchange key')}&withdraw_address=${SOLANA}&url_signature=${hex('url', 64)}`,
  signing_secret: 'whsec_qgr8ayUBKRC/0piGox3xw/g2b0KJq7iLVqL8dFi0uQM=',
  size: 42,
  status_code: 204,
  string_to_sign_bytes: [49, 55, 54],
  ticket: 'T-4711',
  title: 'Payout 25.50 USDC',
  to: ADDRESS,
  token: 'dsb_live_admin_…',
  transaction_hash: `0x${hex('transaction', 64)}`,
  url: 'https://shop.example/webhooks',
  url_host: 'rpc.example.com',
  user_external_id: 'customer-7',
  user_id: uuid('user'),
  version: '1.4.0',
  wallet: ADDRESS.toLowerCase(),
  withdraw_address: SOLANA,
  withdraw_addresses: null,
};

/** Where the name is not enough: `Schema.property`. */
const BY_PLACE = {
  'Consistency.path': [hex('path', 64)],
  'Evidence.to': ADDRESS.toLowerCase(),
  'Evidence.token': `0x${hex('token', 40)}`,
  'KycFailedData.reason': 'The document could not be read',
  'LeakedBody.url': 'https://github.com/example/repository',
  'LoggedRequest.status': 422,
  'Order.reason': null,
  'AdminOrder.reason': null,
  'AdminPayout.reason': null,
  'OnboardingJson.reason': null,
  'Payout.reason': null,
  'PayoutFailedData.reason': 'Transaction not found on the chain within the verification window',
  'Problem.status': 422,
  'Problem.title': 'Unprocessable Entity',
  'SignatureProblem.detail': 'The signature does not match',
  'SignatureProblem.errors': {},
  'SignatureProblem.title': 'Unauthorized',
  'NewMerchantBody.name': 'Shop',
  'AdminMerchant.name': 'Shop',
  'MerchantBody.name': 'Shop',
  'NewCredentialBody.name': 'backend',
  'NewUser.email': 'ada@example.com',
  'Onramp.name': 'MoonPay',
  'OrderResponse.compliance_notice': null,
  'ProviderState.name': 'sms:twilio',
  'Proven.path': [hex('path', 64)],
  'Receipt.json': '{"status":"0x1"}',
  'Token.name': 'USD Coin',
  'TokenChain.name': 'Ethereum',
  'User.issuer_wallet_address': null,
  'WebhookAttempt.http_status': 204,
};

/** An example of a schema. A body of a request leaves out what may be absent and has nothing to say. */
export function exampleOf(document, schema, place = {}) {
  if (schema.$ref !== undefined) {
    const owner = nameOf(schema.$ref);
    return exampleOf(document, resolve(document, schema), { ...place, owner });
  }
  const { owner, name } = place;
  const named = [`${owner}.${name}`, name].find(
    (each) => each in BY_PLACE || (each === name && each in BY_NAME),
  );
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (named !== undefined && fits(schema, valueOf(named))) return valueOf(named);
  if (schema.examples) return schema.examples[0];
  const [inner] = schema.allOf ?? schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  if (inner?.$ref !== undefined || inner?.enum !== undefined) return exampleOf(document, inner, place);
  const types = [schema.type ?? 'object'].flat();
  if (types.includes('null') && named === undefined) return null;
  return ofType(document, types[0], schema, place);
}

const valueOf = (named) => (named in BY_PLACE ? BY_PLACE[named] : BY_NAME[named]);

/** A name may mean another type elsewhere. */
function fits({ type, pattern, format, allOf, anyOf }, value) {
  if (allOf !== undefined || anyOf !== undefined) return value === null;
  const actual = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const isType = [type].flat().some((each) => each === actual || (each === 'integer' && actual === 'number'));
  const isUuid = format !== 'uuid' || value === null || /^[0-9a-f]{8}-/.test(value);
  return isType && isUuid && (pattern === undefined || value === null || new RegExp(pattern).test(value));
}

function ofType(document, type, schema, place) {
  const { owner, name, isRequest } = place;
  if (type === 'array')
    return [exampleOf(document, schema.items ?? {}, { owner, name: singular(name ?? ''), isRequest })].slice(
      0,
      schema.maxItems ?? 1,
    );
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return Math.max(schema.minimum ?? 0, schema.default ?? 0);
  if (type === 'null') return null;
  if (type !== 'object') return text(schema, place);
  const required = schema.required ?? [];
  const members = Object.entries(schema.properties ?? {}).map(([key, each]) => [
    key,
    exampleOf(document, each, { owner, name: key, isRequest }),
  ]);
  return Object.fromEntries(
    members.filter(([key, value]) => !isRequest || required.includes(key) || value !== null),
  );
}

function text({ format, pattern = '' }, { owner = '', name = '' }) {
  if (format === 'date') return TIME.slice(0, 10);
  if (format === 'date-time' || /_at$|_datetime$|^(at|since)$/.test(name)) return TIME;
  if (format === 'uuid') return uuid(name === 'id' ? nounOf(owner) : name.replace(/_id$/, ''));
  const digits = /^\^(0x)?\[0-9a-f(?:A-F)?\]\{(\d+)\}\$$/.exec(pattern);
  if (digits) return (digits[1] ?? '') + hex(name, Number(digits[2]));
  if (pattern.startsWith('^[0-9]+')) return '42';
  return name === 'id' ? nounOf(owner) : name || 'text';
}

/** The thing that a schema is about: `DisplayedOperator` and `OperatorBody` are both of an operator. */
function nounOf(schema) {
  const noun = schema.replace(
    /^(Admin|Displayed|New|Pending|Logged)|(WithSecret|Detail|Json|Data|Body|Fields)$/g,
    '',
  );
  return noun.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

const singular = (name) => name.replace(/ies$/, 'y').replace(/s$/, '');

function hex(seed, length) {
  const blocks = [0, 1].map((n) => createHash('sha256').update(`${seed}${n}`).digest('hex'));
  return blocks.join('').slice(0, length);
}

/** The same for the same thing in all examples; of the version that the service creates. */
export function uuid(thing) {
  const digits = hex(thing, 32);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-9${digits.slice(17, 20)}-${digits.slice(20)}`;
}
