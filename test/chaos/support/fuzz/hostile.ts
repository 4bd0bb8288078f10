import fc, { type Arbitrary } from 'fast-check';

/** Texts with a meaning to the service or the database. fast-check knows those of JavaScript. */
const TEXTS = [
  ...['', ' ', '\u00a0', '\t', '\u0000', 'a\u0000b', '\ud800', '\udc00\ud800', '\ufeff', '\u2028', '\u202e'],
  ...`'; drop schema payouts cascade; --|"|\\|$1|%s%n%d|{{7*7}}|<script>alert(1)</script>|../../../etc/passwd`.split(
    '|',
  ),
  ...'-0 1e400 0x10 12.50 0.0000001 -1 99999999999999999999999999.999999 .5 1,5 \uff11\uff12'.split(' '),
  ...'2026-02-30T00:00:00Z 9999-12-31T23:59:60Z -000001-01-01T00:00:00Z 0001-01-01T00:00:00+23:59'.split(' '),
  ...'+14155550100 +1 +999999999999999 tel:+14155550100 00000000-0000-0000-0000-000000000000'.split(' '),
  ...['\r\nset-cookie: a=b', `0x${'0'.repeat(64)}`, `0x${'g'.repeat(64)}`, '\u0f00'.repeat(256), 'a@b'],
];
/** The texts behind `#` are not JSON. */
const NUMBERS =
  '0 -0 1E+5 1e400 -1e400 1e-400 9007199254740993 12.50 2147483648 # 00012 .5 1. +1 NaN 0x1F undefined //';
const NAMES = ['__proto__', 'constructor', '', 'toJSON', 'then', 'status', 'id', 'a\u0000', '\ud800', 'a[0]'];
const MAX_DEPTH = 50_000;
const MAX_LENGTH = 300_000;

export function mostly<T>(weight: number, usual: Arbitrary<T>, rare: Arbitrary<T>): Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: rare });
}

export const hostileText = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ maxLength: 300 }),
);

const huge = fc
  .tuple(fc.integer({ min: 0, max: MAX_DEPTH }), fc.integer({ min: 0, max: MAX_LENGTH }), fc.nat(3))
  .map(([deep, long, kind]) => {
    if (kind === 0) return '['.repeat(deep) + ']'.repeat(deep);
    if (kind === 1) return `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`;
    return kind === 2 ? `"${'x'.repeat(long)}"` : '9'.repeat(long + 1);
  });

const quoted = (text: Arbitrary<string>): Arbitrary<string> =>
  fc.tuple(text, fc.nat(4)).map(([value, kind]) => {
    if (kind > 0) return JSON.stringify(value);
    const units = value.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
    return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
  });
const name = quoted(fc.oneof(fc.constantFrom(...NAMES), fc.string()));

export const hostileJson = fc.letrec<{ readonly value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    quoted(hostileText),
    fc.constantFrom(...NUMBERS.split(' '), 'null', 'true', '[]', '{}', '[[]]', ''),
    mostly(30, fc.json(), huge),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(name, tie('value')), { maxLength: 4 })
      .map((members) => `{${members.map((each) => each.join(':')).join(',')}}`),
  ),
})).value;

/** Returns a valid value as JSON, in which one of `soundness` places is replaced, omitted or duplicated. */
export function spoilt(valid: unknown, soundness: number): Arbitrary<string> {
  if (Array.isArray(valid))
    return fc
      .tuple(...valid.map((item) => spoilt(item, soundness)))
      .map((items) => `[${(items as string[]).join(',')}]`);
  if (typeof valid !== 'object' || valid === null)
    return mostly(soundness, fc.constant(JSON.stringify(valid)), hostileJson);
  const members = Object.entries(valid).map(([key, value]) => {
    const member = spoilt(value, soundness).map((text) => [`${JSON.stringify(key)}:${text}`]);
    const again = hostileJson.map((text) => [`${JSON.stringify(key)}:${text}`]);
    return mostly(
      soundness,
      member,
      fc.oneof(
        fc.constant([]),
        fc.tuple(member, again).map((both) => both.flat()),
      ),
    );
  });
  const more = fc.tuple(name, hostileJson).map((each) => [each.join(':')]);
  return fc
    .tuple(...members, mostly(soundness, fc.constant<string[]>([]), more))
    .map((all) => `{${all.flat().join(',')}}`);
}

/** Damages one byte in one of `soundness` bodies. */
export function damaged(body: Buffer, soundness: number): Arbitrary<Buffer> {
  const at = fc.nat(body.length);
  const invalidUtf8 = fc
    .constantFrom('c080', 'eda080', 'ff', 'f4908080', 'e2')
    .map((hex) => Buffer.from(hex, 'hex'));
  const inserted = fc.oneof(
    invalidUtf8,
    fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
  );
  const harm = fc.oneof(
    at.map((end) => body.subarray(0, end)),
    fc
      .tuple(at, inserted)
      .map(([place, bytes]) => Buffer.concat([body.subarray(0, place), bytes, body.subarray(place)])),
    fc.constantFrom('\ufeff', '\0', ',', ' \n\t').map((text) => Buffer.concat([body, Buffer.from(text)])),
    fc.constant(Buffer.from(body.toString('latin1'), 'utf16le')),
    fc.uint8Array({ maxLength: 5000 }).map((bytes) => Buffer.from(bytes)),
  );
  return mostly(soundness, fc.constant(body), harm);
}
