import { Controller, Get, Inject } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { Inputs } from '../../../platform/http/decorators.js';
import { Operation } from '../../../platform/openapi/operation.js';
import { ComplianceNotices } from '../application/compliance-notices.js';
import type { ExchangeCaller } from '../application/keys/exchange-caller.js';
import { Onramps } from '../application/onramps.js';
import { SignedLinks } from '../application/signed-links.js';
import { readReturnUrl } from '../domain/return-url.js';
import { Caller, ExchangeKey, type CallerAddress } from './caller.js';
import { ConfigurationQuery, ConfigurationResponse } from './configuration-dto.js';
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
    const { onramp_only_onramps: only, ...parameters } = query;
    const returnUrl = readReturnUrl(query.return_url ?? null, this.config.mode);
    if (returnUrl instanceof Fault) throw DomainError.invalid({ return_url: [returnUrl.message] });
    const chain = query.chain ?? CHAIN;
    const onramps = this.onramps.for(
      { ...parameters, chain, fiat: query.onramp_fiat ?? null, amount: query.onramp_amount ?? null },
      only ?? null,
    );
    const unknown = only?.find((id) => !onramps.some((onramp) => onramp.id === id));
    if (unknown !== undefined)
      throw DomainError.invalid({
        onramp_only_onramps: ['must be ids of on-ramps with commas between them'],
      });
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
}
