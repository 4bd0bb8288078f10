import { Controller, Get, Inject } from '@nestjs/common';
import { isZero } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { Inputs } from '../../../platform/http/decorators.js';
import { Operation } from '../../../platform/openapi/operation.js';
import { ComplianceNotices } from '../application/compliance-notices.js';
import type { ExchangeCaller } from '../../access/contract.js';
import { Onramps } from '../application/onramps.js';
import { SignedLinks } from '../application/signed-links.js';
import { readReturnUrl } from '../domain/return-url.js';
import { Caller, ExchangeKey, type CallerAddress } from './caller.js';
import { ConfigurationQuery, ConfigurationResponse } from './configuration-dto.js';
import type { Purchase } from '../domain/onramps.js';
import { quoted, roundedFiat } from './parameters.js';
import { CHAIN } from './token-dto.js';

/** contract.md 25.3 and 25.4. */
@Controller('v1/merchants/configuration')
export class ConfigurationController {
  constructor(
    private readonly onramps: Onramps,
    private readonly links: SignedLinks,
    private readonly notices: ComplianceNotices,
    @Inject(CONFIG) private readonly config: Pick<Config, 'mode'>,
  ) {}

  @Get()
  @Operation({
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
    @ExchangeKey() caller: ExchangeCaller,
    @Caller() { ip }: CallerAddress,
    @Inputs() { signature: _, signature_v2: __, ...query }: ConfigurationQuery,
  ): ConfigurationResponse {
    const { onramp_only_onramps: only, onramp_amount: given, ...rest } = query;
    const amount = given === undefined ? undefined : roundedFiat(given, query.onramp_fiat);
    const parameters = { ...rest, onramp_amount: amount };
    const returnUrl = readReturnUrl(query.return_url ?? null, this.config.mode);
    if (returnUrl instanceof Fault) throw DomainError.invalid({ return_url: [returnUrl.message] });
    const chain = query.chain ?? CHAIN;
    const purchase = { ...parameters, chain, fiat: query.onramp_fiat ?? null, amount: amount ?? null };
    this.require(purchase, only ?? null);
    const onramps = this.onramps.for(purchase, only ?? null);
    const { url, expiresAt } = this.links.make(caller, { ...parameters, onramp_only_onramps: only?.join() });
    return {
      signed_url: url,
      expires_at: expiresAt,
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
