import { isAtLeast, isDecimal, isZero } from '../../../kernel/decimal.js';

/** A seller of tokens for fiat money, as in the file of EXCHANGE_ONRAMPS_FILE. */
export interface Onramp {
  readonly id: string;
  readonly name: string;
  /**
   * Where its shop is: an https URL, in whose query values may hold the placeholders `{withdraw_address}`,
   * `{withdraw_address_tag}`, `{withdraw_address_memo}`, `{token}`, `{chain}`, `{fiat}` and `{amount}`.
   */
  readonly url: string;
  /** Decimal strings in the currency. */
  readonly fiats: readonly { readonly code: string; readonly minimum: string; readonly maximum: string }[];
}

/** What an on-ramp is opened for. */
export interface Purchase {
  readonly withdraw_address: string;
  readonly withdraw_address_tag?: string | null;
  readonly withdraw_address_memo?: string | null;
  readonly token: string;
  readonly chain: string;
  readonly fiat?: string | null;
  readonly amount?: string | null;
}

/** Examples for the sandbox; these shops do not exist. */
export const SANDBOX_ONRAMPS: readonly Onramp[] = [
  {
    id: 'example-card',
    name: 'Example Card',
    url: 'https://card.onramp.example/buy?token={token}&network={chain}&address={withdraw_address}&fiat={fiat}&amount={amount}',
    fiats: [
      { code: 'EUR', minimum: '20', maximum: '5000' },
      { code: 'USD', minimum: '20', maximum: '5000' },
    ],
  },
  {
    id: 'example-bank',
    name: 'Example Bank',
    url: 'https://bank.onramp.example/transfer?asset={token}-{chain}&to={withdraw_address}&memo={withdraw_address_memo}&amount={amount}',
    fiats: [{ code: 'EUR', minimum: '50', maximum: '50000' }],
  },
];

const ID = /^[a-z0-9][a-z0-9_-]{0,39}$/;
const FIAT = /^[A-Z]{3}$/;
const MOST = 50;
const MAX_NAME = 60;
const MAX_URL = 2048;
const PLACEHOLDER = /\{([a-z_]*)\}/g;
const PLACEHOLDERS = [
  'withdraw_address',
  'withdraw_address_tag',
  'withdraw_address_memo',
  'token',
  'chain',
  'fiat',
  'amount',
];

/** Reads `[{"id": ..., "name": ..., "url": ..., "fiats": [{"code": ..., "minimum": ..., "maximum": ...}]}]`. Throws an Error that says what is wrong. */
export function readOnramps(value: unknown): readonly Onramp[] {
  if (!Array.isArray(value) || value.length > MOST)
    throw new Error(`it must hold an array of at most ${MOST} on-ramps`);
  const onramps = value.map((each: unknown, index) => readOnramp(each, `on-ramp ${index}`));
  const double = onramps.find(({ id }, index) => onramps.findIndex((other) => other.id === id) < index);
  if (double) throw new Error(`two on-ramps have the id ${double.id}`);
  return onramps;
}

/** Whether it takes the amount in the currency; without a currency, in any that it takes. */
export function takes({ fiats }: Onramp, { fiat, amount }: Pick<Purchase, 'fiat' | 'amount'>): boolean {
  return fiats
    .filter(({ code }) => (fiat ?? code) === code)
    .some(
      ({ minimum, maximum }) =>
        isAtLeast(amount ?? minimum, minimum) && isAtLeast(maximum, amount ?? maximum),
    );
}

/** Its shop, opened for this purchase: a query parameter whose placeholder has no value is left out. */
export function onrampUrl({ url }: Onramp, purchase: Purchase): string {
  const shop = new URL(url);
  const filled = [...shop.searchParams].flatMap(([name, template]) => {
    let isWhole = true;
    const value = template.replace(PLACEHOLDER, (_, placeholder: string) => {
      const given = (purchase as unknown as Record<string, string | null | undefined>)[placeholder] ?? '';
      isWhole &&= given !== '';
      return given;
    });
    return isWhole ? [[name, value] as [string, string]] : [];
  });
  shop.search = new URLSearchParams(filled).toString();
  return shop.href;
}

function readOnramp(value: unknown, which: string): Onramp {
  const { id, name, url, fiats } = members(value, which);
  if (typeof id !== 'string' || !ID.test(id))
    throw new Error(`the id of ${which} must be lower-case letters, digits, - and _`);
  if (
    typeof name !== 'string' ||
    name.trim() === '' ||
    name.length > MAX_NAME ||
    /[\p{Cc}\p{Cs}]/u.test(name)
  )
    throw new Error(`the name of ${id} must have 1 to ${MAX_NAME} characters`);
  if (!Array.isArray(fiats) || fiats.length === 0) throw new Error(`${id} has no fiats`);
  return { id, name, url: readUrl(url, id), fiats: fiats.map((fiat: unknown) => readFiat(fiat, id)) };
}

function readUrl(url: unknown, id: string): string {
  if (typeof url !== 'string' || url.length > MAX_URL || !URL.canParse(url) || !url.startsWith('https://'))
    throw new Error(`the url of ${id} must be an https:// URL`);
  const { username, password, search } = new URL(url);
  if (username !== '' || password !== '') throw new Error(`the url of ${id} must name no user`);
  const [before] = url.split('?');
  const unknown = [...decodeURIComponent(search).matchAll(PLACEHOLDER)].find(
    ([, name]) => !PLACEHOLDERS.includes(name!),
  );
  if (unknown) throw new Error(`the url of ${id} holds ${unknown[0]}, which nothing is put for`);
  if (/[{}]/.test(before!)) throw new Error(`the url of ${id} may hold placeholders in its query alone`);
  return url;
}

function readFiat(value: unknown, id: string): Onramp['fiats'][number] {
  const { code, minimum, maximum } = members(value, `a currency of ${id}`);
  if (typeof code !== 'string' || !FIAT.test(code))
    throw new Error(`a currency of ${id} must have a code such as EUR`);
  if (!isDecimal(minimum, 2) || !isDecimal(maximum, 2) || isZero(maximum) || !isAtLeast(maximum, minimum))
    throw new Error(`${code} of ${id} must have a minimum and a maximum, as decimal strings`);
  return { code, minimum, maximum };
}

function members(value: unknown, which: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new Error(`${which} is no object`);
  return value as Record<string, unknown>;
}
