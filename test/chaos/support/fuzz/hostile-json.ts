import type { Random } from '../random.js';

/** Texts that the service or the database may treat as more than a text. */
export const HOSTILE_TEXTS: readonly string[] = [
  ...['', ' ', '\u00a0', '\t', '\u0000', 'a\u0000b', '\ud800', '\udc00\ud800', '\ufeff', '\u2028', '\u202e'],
  ...'__proto__ constructor prototype toString hasOwnProperty length then $ref $where'.split(' '),
  ...[
    `'; drop schema payouts cascade; --`,
    `"`,
    '\\',
    '$1',
    '%s%n%d',
    '{{7*7}}',
    '<script>alert(1)</script>',
  ],
  ...[
    '../../../etc/passwd',
    '\r\nset-cookie: a=b',
    '\uff11\uff12',
    '\u{1f600}',
    'e\u0301',
    '\u0130',
    '\ufb03',
  ],
  ...['\u1e9e', 'A\u030a'.repeat(50), '\u0f00'.repeat(256)],
  ...'null true NaN -0 1e400 0x10 12.50 0.0000001 -1 1e2 99999999999999999999999999.999999 0 .5 1,5'.split(
    ' ',
  ),
  ...'2026-02-30T00:00:00Z 9999-12-31T23:59:60Z -000001-01-01T00:00:00Z 0001-01-01T00:00:00+23:59'.split(' '),
  ...'+275760-09-13T00:00:00.001Z 2026-01-01 1700000000 2026-01-01T00:00:00.0000000000000001Z'.split(' '),
  ...['0x' + '0'.repeat(64), '0X' + 'F'.repeat(64), '0x' + 'g'.repeat(64), '0x', '0x' + '1'.repeat(40)],
  ...'+14155550100 +1 +999999999999999 tel:+14155550100 00000000-0000-0000-0000-000000000000'.split(' '),
  ...['a@b', 'a@example.com', '"@"@example.com', `${'a'.repeat(64)}@${'b'.repeat(190)}.example`],
];

const NUMBERS: readonly string[] = [
  ...['0', '-0', '1', '-1', '0.1', '1E+5', '1e400', '-1e400', '1e-400', '9007199254740993', '12.50', '1.0'],
  ...['1' + '0'.repeat(400), '0.' + '1'.repeat(400), '2147483648', '-9223372036854775809'],
  // Not JSON.
  ...['00012', '.5', '1.', '+1', 'NaN', 'Infinity', '0x1F', '1_000', "'1'", 'undefined', '', '#', '//'],
];

const NAMES: readonly string[] = [
  ...['__proto__', 'constructor', 'prototype', '', ' ', 'toJSON', 'then', 'status', 'id', 'merchant_id'],
  ...['a\u0000', '\ud800', 'length', '0', '-1', 'valueOf', '$', '.', 'a.b', 'a[0]'],
];

const MAX_DEPTH = 50_000;
const MAX_LENGTH = 300_000;

/** JSON texts of any shape; some are no JSON. */
export function hostileValue(random: Random, depth = 0): string {
  const kind = random.below(depth > 3 ? 10 : 14);
  if (kind < 4) return textOf(random.pick(HOSTILE_TEXTS), random);
  if (kind < 7) return random.pick(NUMBERS);
  if (kind < 9) return random.pick(['null', 'true', 'false', '[]', '{}', '[[]]', '{"":{}}']);
  if (kind === 9) return random.chance(0.1) ? huge(random) : JSON.stringify(random.uuid());
  const count = random.below(4);
  const parts = Array.from({ length: count }, () => hostileValue(random, depth + 1));
  if (kind < 12) return `[${parts.join(',')}]`;
  return `{${parts.map((value) => `${textOf(random.pick(NAMES), random)}:${value}`).join(',')}}`;
}

/** A valid value as JSON text, with `harm` of its places spoilt: replaced, omitted, repeated or one more. */
export function spoilt(value: unknown, random: Random, harm: number): string {
  if (random.chance(harm)) return hostileValue(random);
  if (Array.isArray(value)) {
    const items = value.map((item) => spoilt(item, random, harm));
    if (random.chance(harm / 4))
      return `[${Array<string>(random.size(2000))
        .fill(items[0] ?? '0')
        .join(',')}]`;
    return `[${items.join(',')}]`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([name, member]) => {
    if (random.chance(harm)) return [];
    const text = `${JSON.stringify(name)}:${spoilt(member, random, harm)}`;
    return random.chance(harm) ? [text, `${JSON.stringify(name)}:${hostileValue(random)}`] : [text];
  });
  if (random.chance(harm)) members.push(`${textOf(random.pick(NAMES), random)}:${hostileValue(random)}`);
  return `{${members.join(',')}}`;
}

/** The bytes of a body that were damaged on their way. */
export function damaged(body: Buffer, random: Random): Buffer {
  const at = random.below(body.length + 1);
  const [head, tail] = [body.subarray(0, at), body.subarray(at)];
  const invalidUtf8 = Buffer.from(random.pick(['c080', 'eda080', 'ff', 'f4908080', 'e2']), 'hex');
  const trailing = random.pick([body, Buffer.from('\0'), Buffer.from(','), Buffer.from(' \n\t')]);
  return random.pick<() => Buffer>([
    () => head,
    () => Buffer.concat([head, random.bytes(1 + random.below(8)), tail]),
    () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]),
    () => Buffer.concat([head, invalidUtf8, tail]),
    () => Buffer.from(body.toString('latin1'), 'utf16le'),
    () => Buffer.concat([body, trailing]),
    () => random.bytes(random.size(5000)),
  ])();
}

/** The text as JSON: mostly as everybody writes it, sometimes with all of it escaped. */
function textOf(text: string, random: Random): string {
  if (random.chance(0.8)) return JSON.stringify(text);
  const units = Array.from({ length: text.length }, (_, at) =>
    text.charCodeAt(at).toString(16).padStart(4, '0'),
  );
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
}

function huge(random: Random): string {
  const [deep, long] = [random.size(MAX_DEPTH), random.size(MAX_LENGTH)];
  return random.pick<() => string>([
    () => '['.repeat(deep) + ']'.repeat(deep),
    () => '{"a":'.repeat(deep) + '1' + '}'.repeat(deep),
    () => `"${'x'.repeat(long)}"`,
    () => `{${Array.from({ length: Math.min(long, 20_000) }, (_, at) => `"${at}":${at}`).join(',')}}`,
    () => '9'.repeat(long + 1),
  ])();
}
