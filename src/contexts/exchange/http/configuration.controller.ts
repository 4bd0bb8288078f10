import { quoted } from '../../../platform/dto/date-point.js';
import { Controller, Get, Inject } from '@nestjs/common';
import { isZero } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { processConfig, type ProcessConfig } from '../../../platform/config/config.js';
import { ApiProperty, Field, Many } from '../../../platform/dto/field.js';
import { text, TIME } from '../../../platform/dto/rules.js';
import { Inputs } from '../../../platform/http/decorators.js';
import { Visit } from '../../../platform/http/pages/page.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { ComplianceNotices } from '../application/compliance-notices.js';
import { Onramp, Onramps, type Purchase } from '../application/onramps.js';
import { LinkSignatures } from '../application/signed-links.js';
import { readReturnUrl } from '../domain/addresses.js';
import type { ExchangeVisit } from './exchange-key.guard.js';
import { NOTICE } from './order-dto.js';
import {
  CHAIN_TO,
  CHAINS_TO,
  code,
  fiatAmount,
  fiatCurrency,
  nonEmpty,
  querySignature,
  returnUrl,
  roundedFiat,
  signature,
  tagOrMemo,
  TOKENS_TO,
  withdrawAddress,
} from './parameters.js';

const MAX_ONRAMPS_TEXT = 1000;

/** Ids with commas between them; unknown ones are refused later. */
const ids = text({ examples: ['moonpay,transak'] }, (value) => {
  const found = value.split(',').map((id) => id.trim());
  return value.length > MAX_ONRAMPS_TEXT || found.includes('')
    ? new Fault('must be ids of on-ramps with commas between them')
    : found;
});

/** Query of GET /v1/merchants/configuration. */
class ConfigurationQuery {
  @Field(code(TOKENS_TO), { description: 'What is paid out.' }) token!: string;
  @Field(code(CHAINS_TO), { optional: true }) chain?: string;
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

/** contract.md 25.3. */
class ConfigurationResponse {
  @ApiProperty({ type: 'string', format: 'uri', description: 'Opens the pay widget until expires_at.' })
  signed_url!: string;

  @ApiProperty(TIME) expires_at!: string;
  @ApiProperty({ type: 'string' }) token!: string;
  @ApiProperty({ type: 'string' }) chain!: string;
  @Many(() => Onramp) onramps!: readonly Onramp[];
  @ApiProperty(NOTICE) compliance_notice!: string | null;
}

/** contract.md 25.3 and 25.4. */
@Controller('v1/merchants/configuration')
export class ConfigurationController {
  constructor(
    private readonly onramps: Onramps,
    private readonly links: LinkSignatures,
    private readonly notices: ComplianceNotices,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
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
    const chain = query.chain ?? CHAIN_TO;
    const purchase = { ...parameters, chain, fiat: query.onramp_fiat ?? null, amount: amount ?? null };
    this.require(purchase, only);
    const onramps = this.onramps.for(purchase, only);
    const link = this.links.make(key, { ...parameters, onramp_only_onramps: only?.join() });
    return {
      signed_url: link.url,
      expires_at: link.expiresAt,
      token: query.token,
      chain,
      onramps,
      compliance_notice: this.notices.of(ip),
    };
  }

  /** Throws `validation_failed` naming the parameter that no on-ramp takes. */
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
      throw DomainError.invalid({ onramp_amount: ['must be more than 0 in the currency'] });
    if (ids.length === 0 || this.onramps.for(purchase, only).length > 0) return;
    throw DomainError.invalid(
      this.onramps.for({ ...purchase, amount: null }, only).length === 0
        ? { onramp_fiat: [`is a currency that no on-ramp takes: ${quoted(fiat ?? '')}`] }
        : { onramp_amount: [`is an amount that no on-ramp takes: ${amount}`] },
    );
  }
}
