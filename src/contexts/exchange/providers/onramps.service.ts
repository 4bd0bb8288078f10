import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { isAtLeast, isDecimal, isZero } from '../../../kernel/decimal.js';
import { Fault } from '../../../kernel/fault.js';
import { Field, Many, type Rule } from '../../../platform/dto/field.js';
import { text } from '../../../platform/dto/rules.js';

const PLACEHOLDER = /\{([a-z_]*)\}/g;
const PLACEHOLDERS = [
  ...(['withdraw_address', 'withdraw_address_tag', 'withdraw_address_memo'] as const),
  ...(['token', 'chain', 'fiat', 'amount'] as const),
];
/** The values of a purchase at an on-ramp, by placeholder of its URL. */
export type Purchase = Readonly<Partial<Record<(typeof PLACEHOLDERS)[number], string | null>>>;
const isPlaceholder = (name: string): name is keyof Purchase => PLACEHOLDERS.some((known) => known === name);

const MAX_ONRAMPS = 50;

const matching = (form: RegExp, what: string, schema = {}): Rule =>
  text(schema, (value) => (form.test(value) ? value : new Fault(`must be ${what}`)));
const limit: Rule = text({}, (value) =>
  isDecimal(value, 2) ? value : new Fault('must be a decimal with at most 2 digits after the point'),
);

const shopUrl: Rule = text({ format: 'uri' }, (value) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !value.startsWith('https://')) return new Fault('must be an https:// URL');
  if (url.username !== '' || url.password !== '') return new Fault('must not contain a user name');
  if (/[{}]/.test(value.split('?')[0]!)) return new Fault('may contain placeholders only in its query');
  const unknown = [...decodeURIComponent(url.search).matchAll(PLACEHOLDER)].find(
    ([, name]) => !isPlaceholder(name!),
  );
  return unknown === undefined ? value : new Fault(`must not contain the unknown placeholder ${unknown[0]}`);
});

class OnrampFiat {
  @Field(matching(/^[A-Z]{3}$/, 'a code such as EUR'), { examples: ['EUR'] }) code!: string;
  @Field(limit) minimum!: string;
  @Field(limit) maximum!: string;
}

/** A seller of tokens for fiat money, in EXCHANGE_ONRAMPS_FILE and in responses. */
export class Onramp {
  @Field(matching(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'lower-case letters, digits, - and _'), {
    examples: ['moonpay'],
  })
  id!: string;

  @Field(matching(/^(?=.*\S)[^\p{Cc}\p{Cs}]{1,60}$/u, 'a text of 1 to 60 characters')) name!: string;

  /** The query may contain PLACEHOLDERS in braces. */
  @Field(shopUrl, { description: 'Its shop, opened for this purchase.' }) url!: string;
  @Many(() => OnrampFiat) fiats!: readonly OnrampFiat[];
}

class OnrampsFile {
  @Many(() => Onramp, { maxItems: MAX_ONRAMPS }) onramps!: readonly Onramp[];
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

/** Reads an array of on-ramps. Throws an Error that describes the first fault. */
export function readOnramps(value: unknown): readonly Onramp[] {
  const options = { excludeExtraneousValues: true };
  const file = plainToInstance(OnrampsFile, { onramps: value }, options);
  const [error] = validateSync(file);
  if (error !== undefined) throw new Error(faultIn(error));
  const ids = new Set<string>();
  for (const { id, fiats } of file.onramps) {
    if (ids.has(id)) throw new Error(`two on-ramps have the id ${id}`);
    ids.add(id);
    if (fiats.length === 0) throw new Error(`${id} has no currency in fiats`);
    const wrong = fiats.find(({ minimum, maximum }) => isZero(maximum) || !isAtLeast(maximum, minimum));
    if (wrong)
      throw new Error(`${id}: the maximum for ${wrong.code} must be more than 0 and at least the minimum`);
  }
  return file.onramps;
}

function faultIn({ property, constraints, children = [] }: ValidationError): string {
  if (constraints === undefined) return `${property} ${faultIn(children[0]!)}`;
  return `${property} ${constraints['field'] ?? 'must be an object'}`;
}

/** Returns true if the amount is within the limits of `fiat` or, if `fiat` is null, of any currency. */
export function takes({ fiats }: Onramp, { fiat, amount }: Pick<Purchase, 'fiat' | 'amount'>): boolean {
  return fiats
    .filter(({ code }) => (fiat ?? code) === code)
    .some(
      ({ minimum, maximum }) =>
        isAtLeast(amount ?? minimum, minimum) && isAtLeast(maximum, amount ?? maximum),
    );
}

/** Fills the placeholders of the shop's URL. Query parameters without a value are omitted. */
export function onrampUrl({ url }: Onramp, purchase: Purchase): string {
  const shop = new URL(url);
  const filled = [...shop.searchParams].flatMap(([name, template]) => {
    let isWhole = true;
    const value = template.replace(PLACEHOLDER, (_, placeholder: string) => {
      const given = (isPlaceholder(placeholder) && purchase[placeholder]) || '';
      isWhole &&= given !== '';
      return given;
    });
    return isWhole ? [[name, value] as [string, string]] : [];
  });
  shop.search = new URLSearchParams(filled).toString();
  return shop.href;
}

/** The configured on-ramps (contract.md 25.3). */
export class Onramps {
  constructor(private readonly all: readonly Onramp[]) {}

  get ids(): readonly string[] {
    return this.all.map(({ id }) => id);
  }

  /** Returns the on-ramps for the purchase, each with a filled `url`. `only` limits them to these ids. */
  for(purchase: Purchase, only: readonly string[] | null): readonly Onramp[] {
    return this.all
      .filter((onramp) => (only === null || only.includes(onramp.id)) && takes(onramp, purchase))
      .map((onramp) => ({ ...onramp, url: onrampUrl(onramp, purchase) }));
  }
}
