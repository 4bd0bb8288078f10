import { Controller, Get } from '@nestjs/common';
import { Inputs } from '../../../platform/http/decorators.js';
import { Operation } from '../../../platform/openapi/operation.js';
import { ComplianceNotices } from '../application/compliance-notices.js';
import { TokenOffer } from '../application/token-offer.js';
import { Caller, type CallerAddress } from './caller.js';
import { CHAIN, TokensQuery, TokensResponse } from './token-dto.js';

/** contract.md 25.1. */
@Controller('v1/tokens')
export class TokensController {
  constructor(
    private readonly offer: TokenOffer,
    private readonly notices: ComplianceNotices,
  ) {}

  @Get()
  @Operation({
    id: 'listTokens',
    tag: 'Exchange',
    summary: 'List tokens that can be exchanged',
    responses: {
      200: [TokensResponse, 'Tokens, the chains they are on, and the pairs to make orders with.'],
      422: 'A parameter is missing or wrong.',
    },
  })
  list(@Caller() { ip }: CallerAddress, @Inputs() query: TokensQuery): TokensResponse {
    const tokens = this.offer.to({ token: query.to_token, chain: query.to_chain ?? CHAIN });
    return { tokens, compliance_notice: this.notices.of(ip) };
  }
}
