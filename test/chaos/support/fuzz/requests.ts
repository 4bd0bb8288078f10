import { createHmac } from 'node:crypto';
import { damaged, HOSTILE_TEXTS, hostileValue, spoilt } from './hostile-json.js';
import { ACCEPTS, BAD_KEYS, CONTENT_TYPES, ENCODINGS, METHODS, OTHER_HEADERS } from './odd-headers.js';
import type { Random } from '../random.js';
import { validBody, type World } from './world.js';

/** A request that is valid HTTP with any contents. */
export interface FuzzedRequest {
  readonly port: 'api' | 'widget';
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

/** Of all requests the seed has, those that undici can send: hostile in what they say, not in how they say it. */
export function apiRequest(random: Random, world: World): FuzzedRequest {
  const { method, path, query } = random.pick(world.endpoints);
  const harm = random.pick([0, 0, 0.03, 0.15]);
  const used = random.chance(0.93) ? method : random.pick(METHODS);
  const target = pathOf(path, random, world) + queryOf(query, random, harm);
  const body = bodyOf(validBody(method, path, random, world), used, random, harm);
  const headers: Record<string, string> = { ...jsonHeaders(body, random), ...moreHeaders(random) };
  if (random.chance(0.4)) headers['idempotency-key'] = keyOf(random);
  return {
    port: 'api',
    method: used,
    path: target,
    body,
    headers: { ...headers, ...signature(random, world, used, target, body) },
  };
}

const STEPS = ['code', 'phone', 'details', 'identity', 'state', 'inbox', '__proto__', 'constructor', 'x'];

export function widgetRequest(random: Random, world: World): FuzzedRequest {
  const harm = random.pick([0, 0.05, 0.3]);
  const merchant = random.chance(0.9) ? world.merchant.apiKey : segment(random, world);
  const user = random.chance(0.7) ? random.pick(world.users) : segment(random, world);
  if (random.chance(0.3)) {
    const known = random.chance(0.8) ? `merchant_id=${merchant}&user_id=${user}&` : '';
    const path = `/onboarding?${known}${queryOf(['callback_url', 'merchant_id', 'user_id'], random, 0.5).slice(1)}`;
    return {
      port: 'widget',
      method: random.chance(0.9) ? 'GET' : random.pick(METHODS),
      path,
      headers: moreHeaders(random),
      body: null,
    };
  }
  const valid = {
    phone_number: '+491511234567',
    code: String(random.below(1_000_000)).padStart(6, '0'),
    first_name: 'Ada',
    last_name: 'Lovelace',
    date_of_birth: '1985-12-10',
  };
  const body = bodyOf(valid, 'POST', random, harm);
  const path = `/onboarding/${merchant}/${user}/${random.pick(STEPS)}${random.chance(0.05) ? queryOf([], random, 1) : ''}`;
  const authorization = random.pick([
    '',
    'Bearer ',
    `Bearer ${random.uuid()}`,
    'Basic x',
    `Bearer ${'.'.repeat(3000)}`,
  ]);
  const headers = { ...jsonHeaders(body, random), ...moreHeaders(random), authorization };
  return { port: 'widget', method: random.chance(0.95) ? 'POST' : random.pick(METHODS), path, headers, body };
}

function pathOf(template: string, random: Random, world: World): string {
  const path = template.replace('{id}', () => segment(random, world));
  if (!random.chance(0.04)) return path;
  return random.pick([
    `${path}/`,
    path.replace('/v1', '//v1'),
    path.replace('merchants', 'MERCHANTS'),
    `${path}/${segment(random, world)}`,
    `${path};a=b`,
    path.replaceAll('s', '%73'),
  ]);
}

const ODD_SEGMENTS = '%00 %2e%2e .. . % %zz %2f%2f %ff %c0%af %f0%9f%98%80';

/** In place of an id: one that exists, one that does not, or anything. */
function segment(random: Random, world: World): string {
  if (random.chance(0.6)) return random.pick(world.ids);
  if (random.chance(0.3)) return random.chance(0.5) ? random.uuid() : random.pick(world.ids).toUpperCase();
  const odd = ['\u00e9\u00ff', 'x'.repeat(9000), ...ODD_SEGMENTS.split(' ')];
  return random.chance(0.5) ? random.pick(odd) : percent(random.pick(HOSTILE_TEXTS)) || '-';
}

function queryOf(names: readonly string[], random: Random, harm: number): string {
  if (random.chance(names.length === 0 ? 0.9 : 0.3)) return '';
  const valid: Readonly<Record<string, readonly string[]>> = {
    page_size: ['1', '20', '100', '1000'],
    status: ['pending', 'received', 'succeeded', 'failed'],
    callback_url: ['https://shop.example/done', 'shop://done'],
  };
  const pairs = names.flatMap((name) => {
    if (random.chance(0.6)) return [];
    const fine = valid[name] ?? ['2026-01-01T00:00:00Z', 'Order Paid', random.uuid()];
    const value = random.chance(0.5 - harm) ? percent(random.pick(fine)) : oddValue(random);
    return random.chance(0.1) ? [`${name}=${value}`, `${name}=${oddValue(random)}`] : [`${name}=${value}`];
  });
  if (random.chance(0.1 + harm / 2)) pairs.push(oddPair(random));
  return `?${pairs.join('&')}`;
}

const ODD_PAIRS =
  '__proto__=1 __proto__[x]=1 constructor[prototype][x]=1 a[b][c]=d page_size[]=1 page_size = &&& ? % %zz=%zz %00 ; %23';

function oddPair(random: Random): string {
  const long = ['a'.repeat(8000), `a=${'%41'.repeat(3000)}`, 'a&'.repeat(2000), '\u00ff=\u00ff'];
  return random.pick([...long, ...ODD_PAIRS.split(' ')]);
}

const ODD_NUMBERS = '-1 0 1e3 0x10 99999999999999999999 1.5 % %zz %ff + 1;2';

function oddValue(random: Random): string {
  if (random.chance(0.2)) return random.pick(ODD_NUMBERS.split(' '));
  // Cursors are base64url of something.
  if (random.chance(0.3)) return Buffer.from(hostileValue(random, 3)).toString('base64url').slice(0, 6000);
  return percent(random.pick(HOSTILE_TEXTS));
}

function percent(text: string): string {
  return Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

function bodyOf(valid: unknown, method: string, random: Random, harm: number): Buffer | null {
  if (method === 'GET' || method === 'HEAD')
    return random.chance(0.03) ? Buffer.from(hostileValue(random)) : null;
  if (method === 'TRACE') return null;
  if (random.chance(0.03)) return random.chance(0.5) ? null : Buffer.alloc(0);
  const body = Buffer.from(spoilt(valid, random, harm));
  return random.chance(harm) ? damaged(body, random) : body;
}

function jsonHeaders(body: Buffer | null, random: Random): Record<string, string> {
  if (body === null) return {};
  return {
    'content-type': random.chance(0.95) ? 'application/json' : random.pick(CONTENT_TYPES),
    ...(random.chance(0.02) ? { 'content-encoding': random.pick(ENCODINGS) } : {}),
  };
}

function moreHeaders(random: Random): Record<string, string> {
  const headers: Record<string, string> = {};
  if (random.chance(0.1)) headers['accept'] = random.pick(ACCEPTS);
  if (random.chance(0.1)) {
    const [name, value] = random.pick(OTHER_HEADERS);
    headers[name] = value;
  }
  return headers;
}

/** A fresh one, one of a few that are used again, or an invalid one. */
function keyOf(random: Random): string {
  if (random.chance(0.3)) return random.pick(BAD_KEYS);
  return random.chance(0.5)
    ? `"${random.uuid()}"`
    : `"5eed0000-0000-4000-8000-00000000000${random.below(10)}"`;
}

/** Valid in nine of ten; the others are wrong in ways that do not lock the merchant out. */
function signature(
  random: Random,
  { merchant }: World,
  method: string,
  target: string,
  body: Buffer | null,
): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signed = createHmac('sha256', merchant.privateKey)
    .update(`${timestamp}\n${method}\n${target.split('?')[0]!}\n`, 'utf8')
    .update(body ?? '')
    .digest('hex');
  const headers = { 'svc-api-key': merchant.apiKey, 'svc-timestamp': timestamp, 'svc-signature': signed };
  if (random.chance(0.9)) return headers;
  return random.pick<Record<string, string>>([
    { 'svc-api-key': merchant.apiKey },
    { ...headers, 'svc-api-key': random.uuid() },
    { ...headers, 'svc-api-key': random.pick(['', 'x', "' or 1=1", '\u00ff'.repeat(100)]) },
    {
      ...headers,
      'svc-timestamp': random.pick(['0', '-1', 'NaN', '1e9', '9'.repeat(50), `${timestamp}.5`, '']),
    },
    {
      ...headers,
      'svc-api-key': random.uuid(),
      'svc-signature': random.pick(['', 'x', signed.slice(1), 'f'.repeat(5000)]),
    },
    {},
  ]);
}
