import { callOf } from './samples.mjs';

const KEY = `key=$(openssl rand -hex 16 |\n  sed 's/./&-/20;s/./&-/16;s/./&-/12;s/./&-/8')`;
const HEX = `openssl dgst -sha256 -hmac`;

/** What the parameters of an operation come to: bash that signs and sends it. */
export function curlSample(document, operation) {
  const call = callOf(document, operation);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(call.path[name]));
  const body = call.body && JSON.stringify(call.body, null, JSON.stringify(call.body).length > 60 ? 2 : 0);
  const parts = { operation, path, body, query: call.query };
  const { before, headers, query } = (SIGNED[operation.credentials] ?? unsigned)(parts);
  const isKeyed = operation.method !== 'GET' && operation.credentials !== null;
  const options = [
    operation.method !== 'GET' &&
      (body === undefined || operation.method !== 'POST') &&
      `-X ${operation.method}`,
    ...(body === undefined ? [] : [`-d "$body"`, `-H 'content-type: application/json'`]),
    ...headers,
    ...Object.entries(call.headers).map(([name, value]) => `-H '${name}: ${value}'`),
    isKeyed && `-H "Idempotency-Key: \\"$key\\""`,
  ].filter(Boolean);
  const base = operation.isAdmin ? '$ADMIN_URL' : '$BASE_URL';
  const search = query.length > 0 ? `?${query.join('&')}` : '';
  const lines = [
    ...(body === undefined ? [] : [`body='${body}'`]),
    ...before,
    ...(isKeyed ? [KEY] : []),
    [`curl "${base}${path}${search}"`, ...options].join(' \\\n  '),
  ];
  return lines.join('\n');
}

const pairs = (query) => Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);

const unsigned = ({ query }) => ({ before: [], headers: [], query: pairs(query) });

const SIGNED = {
  merchant: ({ operation, path, body, query }) => ({
    before: [
      'now=$(date +%s)',
      `signature=$(printf '%s\\n${operation.method}\\n${path}\\n${body === undefined ? '\' "$now"' : `%s' "$now" "$body"`} |\n  ${HEX} "$PRIVATE_KEY" -hex | sed 's/.* //')`,
    ],
    headers: [`-H "svc-api-key: $API_KEY"`, `-H "svc-timestamp: $now"`, `-H "svc-signature: $signature"`],
    query: pairs(query),
  }),
  exchange: ({ operation, query }) => {
    // Of an action, the address that its order pays out to: it is not sent.
    const isSigned = operation.parameters.some(({ name }) => name === 'signature');
    const address = query.withdraw_address ?? '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
    const rest = pairs(query).filter((each) => !each.startsWith('withdraw_address='));
    return {
      before: isSigned
        ? [
            `address=${address}`,
            `signature=$(printf 'withdraw_address=%s' "$address" |\n  ${HEX} "$EXCHANGE_SECRET" -hex | sed 's/.* //')`,
          ]
        : [],
      headers: [],
      query: [
        'api_key=$EXCHANGE_KEY',
        ...rest,
        ...('withdraw_address' in query ? ['withdraw_address=$address'] : []),
        ...(isSigned ? ['signature=$signature'] : []),
      ],
    };
  },
  'exchange-headers': ({ query }) => ({
    before: [`signature=$(printf 'withdraw_address=' |\n  ${HEX} "$EXCHANGE_SECRET" -hex | sed 's/.* //')`],
    headers: ['-H "X-Api-Key: $EXCHANGE_KEY"', '-H "X-Signature: $signature"'],
    query: pairs(query),
  }),
  admin: ({ query }) => ({
    before: [],
    headers: ['-H "authorization: Bearer $ADMIN_KEY"'],
    query: pairs(query),
  }),
};
