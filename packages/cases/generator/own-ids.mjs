import { TEXTS, uuidOf } from './bytes.mjs';

const REPORT = '/merchants/v1/payouts/report';

export function ownIds() {
  const hashed = (name, id, method = 'POST', path = REPORT) => ({
    ...{ name, id, method, path },
    key: uuidOf(`${method} ${path}\n${id}`),
  });
  const plain = (name, id) => ({ name, id, method: 'POST', path: REPORT, key: id.toLowerCase() });
  const id = 'c0ffee00-0000-4000-8000-00000000000a';
  return [
    ...Object.entries(TEXTS).map(([name, text]) => hashed(name, text)),
    hashed('an invoice', 'invoice 42'),
    hashed('the same for another path', 'invoice 42', 'POST', '/merchants/v1/users'),
    hashed('the same for another method', 'invoice 42', 'PATCH'),
    hashed('the next invoice', 'invoice 43'),
    hashed('a path with a query', 'order 1', 'POST', '/v1/orders?pair_id=USDCSOL&withdraw_address=a+b'),
    hashed('a long id', 'id'.repeat(500)),
    plain('a uuid', id),
    plain('a uuid in upper case', id.toUpperCase()),
    plain('a uuid of no version', '00000000-0000-0000-0000-000000000000'),
    hashed('a uuid in braces', `{${id}}`),
    hashed('a uuid with a space', `${id} `),
    hashed('a uuid with a line break', `${id}\n`),
    hashed('a uuid without hyphens', id.replaceAll('-', '')),
    hashed('a uuid with a letter beyond f', `${id.slice(0, -1)}g`),
    ...Array.from({ length: 8 }, (_, n) => hashed(`payout ${n}`, `payout ${n}`)),
  ];
}
