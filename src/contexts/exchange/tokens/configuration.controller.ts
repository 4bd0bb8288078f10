import { quoted } from '../../../platform/dto/date-point.js';
import { Controller, Get, Inject } from '@nestjs/common';
import Big from 'big.js';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { isAtLeast, isZero } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { asciiDigits } from '../../../kernel/typed-text.js';
import { httpConfig, type HttpConfig } from '../../../platform/config/config.js';
import { ApiProperty, Field, Many, type Rule } from '../../../platform/dto/field.js';
import { text, TIME } from '../../../platform/dto/rules.js';
import { Inputs } from '../../../platform/http/decorators.js';
import { Visit } from '../../../platform/http/pages/page.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { ComplianceNotices } from '../orders/compliance-notices.service.js';
import { Onramp, Onramps, type Purchase } from '../providers/onramps.service.js';
import { signedLink } from '../orders/order-signature.guard.js';
import { readReturnUrl } from '../orders/addresses.js';
import { PAID_OUT } from './catalog.js';
import type { ExchangeVisit } from '../orders/exchange-key.guard.js';
import {
  chainTo,
  nonEmpty,
  NOTICE,
  querySignature,
  returnUrl,
  signature,
  tagOrMemo,
  tokenTo,
  withdrawAddress,
} from '../orders/orders.dto.js';

const MAX_FIAT = '1000000';

const FIAT_CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
/** The number of digits after the point by currency (ISO 4217), if not two. */
const MINOR_DIGITS: ReadonlyMap<string, number> = new Map([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'
    .split(' ')
    .map((code) => [code, 0] as const),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3] as const),
]);

/** A JSON number of at most 40 characters. Its exponent is below 30, because its zeros are written out. */
const JSON_NUMBER = /^(?=.{1,40}$)(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[+-]?[0-2]?[0-9])?$/i;
const PLAIN = /^[0-9]+(?:\.[0-9]{1,2})?$/;

/** An amount as a JSON number. The `+` of an exponent arrives as a blank from the query. */
export const fiatAmount: Rule = text(
  { pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$', examples: ['150.00'] },
  (value) => {
    const number = asciiDigits(value).replace(/(?<=e) /i, '+');
    if (!JSON_NUMBER.test(number)) return FIAT_FAULT;
    const plain = PLAIN.test(number) ? number : new Big(number).toFixed();
    return isZero(plain) || !isAtLeast(MAX_FIAT, plain) ? FIAT_FAULT : plain;
  },
);

const FIAT_FAULT = new Fault(`must be a number, more than 0 and at most ${MAX_FIAT}`);

export const fiatCurrency: Rule = text({ pattern: '^[A-Z]{3}$', examples: ['EUR'] }, (value) =>
  FIAT_CURRENCIES.has(value.toUpperCase())
    ? value.toUpperCase()
    : new Fault(`must be the ISO 4217 code of a currency, such as EUR, not ${quoted(value)}`),
);

/** Rounds half up to the minor unit of the currency, or to hundredths without a currency. */
export function roundedFiat(amount: string, currency: string | undefined): string {
  const decimals = MINOR_DIGITS.get(currency ?? '') ?? 2;
  if ((amount.split('.')[1] ?? '').length <= decimals) return amount;
  return new Big(amount).round(decimals, Big.roundHalfUp).toFixed();
}

/** The ids of on-ramps, separated by commas. The controller refuses unknown ids. */
const ids = text({ examples: ['moonpay,transak'] }, (value) => {
  const found = value.split(',').map((id) => id.trim());
  return found.includes('') ? new Fault('must be ids of on-ramps with commas between them') : found;
});

class ConfigurationQuery {
  @Field(tokenTo, { description: 'What is paid out.' }) token!: string;
  @Field(chainTo, { optional: true }) chain?: string;
  @Field(withdrawAddress, { description: 'Where the exchanged funds go.' }) withdraw_address!: string;
  @Field(tagOrMemo, { optional: true }) withdraw_address_tag?: string;
  @Field(tagOrMemo, { optional: true }) withdraw_address_memo?: string;
  @Field(fiatAmount, { optional: true, description: 'In onramp_fiat.' }) onramp_amount?: string;
  @Field(fiatCurrency, { optional: true }) onramp_fiat?: string;

  @Field(ids, {
    optional: true,
    description: 'Ids of the on-ramps to show, with commas between them; all of them otherwise.',
  })
  onramp_only_onramps?: readonly string[];

  @Field(nonEmpty, { optional: true, description: 'Whose order the widget makes.' }) user_id?: string;

  @Field(returnUrl, {
    optional: true,
    description: 'Where the widget leads back to. Requires signature_v2 with any key.',
  })
  return_url?: string;

  @Field(signature, { optional: true }) signature?: string;
  @Field(querySignature, { optional: true }) signature_v2?: string;
}

class ConfigurationResponse {
  @ApiProperty({ type: 'string', format: 'uri', description: 'Opens the pay widget until expires_at.' })
  signed_url!: string;

  @ApiProperty(TIME) expires_at!: string;
  @ApiProperty({ type: 'string' }) token!: string;
  @ApiProperty({ type: 'string' }) chain!: string;
  @Many(() => Onramp) onramps!: readonly Onramp[];
  @ApiProperty(NOTICE) compliance_notice!: string | null;
}

/** The on-ramps and the signed link of a purchase (contract.md 25.3 and 25.4). */
@Controller('v1/merchants/configuration')
export class ConfigurationController {
  constructor(
    private readonly onramps: Onramps,
    private readonly notices: ComplianceNotices,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @ApiRoute({
    id: 'getConfiguration',
    tag: 'Exchange',
    summary: 'Get the configuration of an on-ramp transaction',
    description: 'With a signed link to the pay widget. The signature may also come in X-Signature.',
    responses: {
      200: [ConfigurationResponse, 'The link holds every parameter of the request.'],
      422: 'A parameter is missing or wrong.',
    },
  })
  get(
    @Visit() { key, ip }: ExchangeVisit,
    @Inputs() { signature: _, signature_v2: __, ...query }: ConfigurationQuery,
  ): ConfigurationResponse {
    const { onramp_only_onramps, onramp_amount: given, ...rest } = query;
    const only = onramp_only_onramps ?? null;
    const amount = given === undefined ? undefined : roundedFiat(given, query.onramp_fiat);
    const parameters = { ...rest, onramp_amount: amount };
    const url = readReturnUrl(query.return_url ?? null, this.config.mode);
    if (url instanceof Fault) throw DomainError.invalid({ return_url: [url.message] });
    const chain = query.chain ?? PAID_OUT.chain;
    const purchase = { ...parameters, chain, fiat: query.onramp_fiat ?? null, amount: amount ?? null };
    this.require(purchase, only);
    const onramps = this.onramps.for(purchase, only);
    const linked = { ...parameters, onramp_only_onramps: only?.join() };
    const link = signedLink(key, linked, this.config, this.clock.now());
    return {
      signed_url: link.url,
      expires_at: link.expiresAt,
      token: query.token,
      chain,
      onramps,
      compliance_notice: this.notices.of(ip),
    };
  }

  /** Throws `validation_failed` for a parameter that no on-ramp accepts. */
  private require(purchase: Purchase, only: readonly string[] | null): void {
    const { ids } = this.onramps;
    const unknown = only?.find((id) => !ids.includes(id));
    if (unknown !== undefined)
      throw DomainError.invalid({
        onramp_only_onramps: [
          `must be ids of on-ramps (${ids.join(', ')}) with commas between them, not ${quoted(unknown)}`,
        ],
      });
    const { fiat, amount } = purchase;
    if (amount !== null && amount !== undefined && isZero(amount))
      throw DomainError.invalid({ onramp_amount: ['must not round to 0 in the currency'] });
    if (ids.length === 0 || this.onramps.for(purchase, only).length > 0) return;
    throw DomainError.invalid(
      this.onramps.for({ ...purchase, amount: null }, only).length === 0
        ? { onramp_fiat: [`is a currency that no on-ramp takes: ${quoted(fiat ?? '')}`] }
        : { onramp_amount: [`is an amount that no on-ramp takes: ${amount}`] },
    );
  }
}
