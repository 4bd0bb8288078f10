import { canonicalQuery, hmacHex, uuidOf } from './bytes.mjs';

const NOW = 1_750_000_000;
const API_KEY = 'pk_1';
const SECRET = 'sk_1';
const ID = '0b5a3d7e-8c1f-4f9e-9d57-3f0f6f0e8a11';
const ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';

const keyOf = (id, method, target) => `"${uuidOf(`${method} ${target}\n${id}`)}"`;

/** A call of the merchant API: `operation` as `group.method`, and the request that the service gets. */
function merchant(name, operation, method, path, { id, body, query = {}, own_id } = {}) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const signature = hmacHex(SECRET, `${NOW}\n${method}\n${path}\n${text}`);
  const headers = { 'svc-api-key': API_KEY, 'svc-timestamp': String(NOW), 'svc-signature': signature };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (own_id !== undefined) headers['idempotency-key'] = keyOf(own_id, method, path);
  return {
    ...{ name, client: 'merchant', operation, id, body, query, own_id },
    ...{ now: NOW, api_key: API_KEY, secret: SECRET },
    expected: { method, path, query: sorted(Object.entries(query)), headers, body: text },
  };
}

/** A call of the exchange API, whose inputs are in its query. `sent` are the parameters before the client adds its own. */
function exchange(
  name,
  operation,
  method,
  path,
  { id, address, query = {}, own_id, target, secret = SECRET } = {},
) {
  const signs = (content) => hmacHex(secret, content);
  const isList = path === '/v1/merchant/orders';
  const headers = isList
    ? { 'x-api-key': API_KEY, ...(secret ? { 'x-signature': signs('withdraw_address=') } : {}) }
    : {};
  const pairs = Object.entries(query);
  if (address !== undefined && secret) pairs.push(['signature', signs(`withdraw_address=${address}`)]);
  const keyed = pairs.map(([key, value]) => `${key}=${value}`).join('&');
  if (own_id !== undefined)
    headers['idempotency-key'] = keyOf(own_id, method, target ?? (keyed ? `${path}?${keyed}` : path));
  if (!isList) pairs.push(['api_key', API_KEY]);
  if (!isList && secret && 'withdraw_address' in query)
    pairs.push(['signature_v2', signs(`${path}?${canonicalQuery(pairs)}`)]);
  return {
    ...{ name, client: 'exchange', operation, id, address, query, own_id },
    ...{ now: NOW, api_key: API_KEY, secret },
    expected: { method, path, query: sorted(pairs), headers, body: '' },
  };
}

const sorted = (pairs) =>
  pairs.map(([name, value]) => [name, String(value)]).sort(([a], [b]) => (a < b ? -1 : 1));

export function calls() {
  const users = '/merchants/v1/users';
  const endpoint = `/merchants/v1/webhook_endpoints/${ID}`;
  const payout = { amount: '12.50', transaction_hash: `0x${'ab'.repeat(32)}`, currency_code: 'USDC' };
  const order = { pair_id: 'USDCSOL', withdraw_address: ADDRESS };
  const memo = { ...order, withdraw_address_memo: 'für ~Ada & Bob (1+1)' };
  return [
    merchant('a read', 'users.get', 'GET', `${users}/${ID}`, { id: ID }),
    merchant('a read with a query', 'payouts.list', 'GET', '/merchants/v1/payouts', {
      query: { status: 'expired', page_size: 5 },
    }),
    merchant('a query that must be encoded', 'users.events', 'GET', `${users}/${ID}/events`, {
      id: ID,
      query: { event_name: 'level up & more = ü+1' },
    }),
    merchant('a path that must be encoded', 'users.get', 'GET', `${users}/a%2Fb%20%C3%BC%3F`, {
      id: 'a/b ü?',
    }),
    merchant('a write under an own id', 'payouts.report', 'POST', '/merchants/v1/payouts/report', {
      body: { user_id: ID, payout },
      own_id: 'invoice 42',
    }),
    merchant('a write with all letters', 'users.create', 'POST', users, {
      body: { phone_number: '+1', external_id: 'Zoë 💸\n"\\\u2028' },
      own_id: 'Kunde ü 💸',
    }),
    merchant('a write with null', 'users.create', 'POST', users, {
      body: { phone_number: '+1', email: null },
      own_id: '1',
    }),
    merchant('a write without a key of the caller', 'users.create', 'POST', users, {
      body: { phone_number: '+1' },
    }),
    merchant('a write without a body', 'webhook_endpoints.test', 'POST', `${endpoint}/test_delivery`, {
      id: ID,
      own_id: 't',
    }),
    merchant('a change', 'webhook_endpoints.update', 'PATCH', endpoint, {
      id: ID,
      body: { webhook_endpoint: { status: 'enabled' } },
      own_id: 'c',
    }),
    merchant('a removal', 'webhook_endpoints.delete', 'DELETE', endpoint, { id: ID, own_id: 'd' }),
    merchant('an empty own id', 'webhook_endpoints.delete', 'DELETE', endpoint, { id: ID, own_id: '' }),
    merchant('numbers and nested values', 'events.send', 'POST', '/merchants/v1/events', {
      body: { events: [{ event_name: 'e', payload: { a: [1, 1.5, -2, true, null, {}], b: {} } }] },
      own_id: 'batch 1',
    }),
    exchange('tokens', 'tokens', 'GET', '/v1/tokens', { query: { to_token: 'sol' } }),
    exchange('a configuration', 'configuration', 'GET', '/v1/merchants/configuration', {
      query: { token: 'sol', withdraw_address: ADDRESS },
    }),
    exchange('an order', 'orders.create', 'POST', '/v1/orders', { query: order, own_id: 'order 1' }),
    exchange('an order with its parameters in another sequence', 'orders.create', 'POST', '/v1/orders', {
      ...{ query: Object.fromEntries(Object.entries(order).toReversed()), own_id: 'order 1' },
      target: `/v1/orders?pair_id=USDCSOL&withdraw_address=${ADDRESS}`,
    }),
    exchange('an order with a memo', 'orders.create', 'POST', '/v1/orders', {
      ...{ query: memo, own_id: 'order 2' },
      target: `/v1/orders?pair_id=USDCSOL&withdraw_address=${ADDRESS}&withdraw_address_memo=f%C3%BCr+%7EAda+%26+Bob+%281%2B1%29`,
    }),
    exchange('an order with all parameters', 'orders.create', 'POST', '/v1/orders', {
      query: { ...order, withdraw_address_tag: '7', withdraw_address_memo: 'm', user_id: 'u' },
      own_id: 'order 3',
      target: `/v1/orders?pair_id=USDCSOL&user_id=u&withdraw_address=${ADDRESS}&withdraw_address_memo=m&withdraw_address_tag=7`,
    }),
    exchange('an order without a secret', 'orders.create', 'POST', '/v1/orders', {
      query: order,
      own_id: 'order 1',
      secret: null,
    }),
    ...['refresh', 'cancel', 'mark_as_paid'].map((action) =>
      exchange(`${action} of an order`, `orders.${action}`, 'PATCH', `/v1/orders/${ID}/${action}`, {
        id: ID,
        address: ADDRESS,
        own_id: 'o',
      }),
    ),
    exchange('an action without a secret', 'orders.cancel', 'PATCH', `/v1/orders/${ID}/cancel`, {
      id: ID,
      address: ADDRESS,
      own_id: 'o',
      secret: null,
    }),
    exchange('the list of orders', 'orders.list', 'GET', '/v1/merchant/orders', {
      query: { start_date: '2026-01-01', end_date: '2026-01-31' },
    }),
    exchange('the list of orders without a secret', 'orders.list', 'GET', '/v1/merchant/orders', {
      query: { start_date: '2026-01-01', end_date: '2026-01-31' },
      secret: null,
    }),
  ];
}
