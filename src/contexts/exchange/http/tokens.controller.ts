import { Controller, Get } from '@nestjs/common';
import { ApiProperty, Field, Many } from '../../../platform/dto/field.js';
import { Inputs } from '../../../platform/http/decorators.js';
import { Operation } from '../../../platform/openapi/operation.js';
import { ComplianceNotices } from '../application/compliance-notices.js';
import { TokenOffer } from '../application/offers.js';
import { Caller, type CallerAddress } from './caller.js';
import { CHAIN_TO, CHAINS_TO, code, nonEmpty, TOKENS_TO } from './parameters.js';

/** Query of GET /v1/tokens. */
export class TokensQuery {
  @Field(code(TOKENS_TO), { description: 'What is paid out.' })
  to_token!: string;

  @Field(code(CHAINS_TO), { optional: true })
  to_chain?: string;

  @Field(nonEmpty, { optional: true, description: 'For tracking.' })
  user_id?: string;
}

class TokenChain {
  @ApiProperty({ type: 'string', examples: ['ethereum'] })
  id!: string;

  @ApiProperty({ type: 'string' })
  name!: string;
}

class Token {
  @ApiProperty({ type: 'string', examples: ['usdc'] })
  id!: string;

  @ApiProperty({ type: 'string' })
  name!: string;

  @ApiProperty({ type: 'string', format: 'uri' })
  icon_url!: string;

  @Many(() => TokenChain, { minItems: 1 })
  chains!: readonly TokenChain[];

  @ApiProperty({ type: 'array', items: { type: 'string' }, description: 'What POST /v1/orders takes.' })
  pair_ids!: readonly string[];
}

/** contract.md 25.1. */
export class TokensResponse {
  @Many(() => Token)
  tokens!: readonly Token[];

  @ApiProperty({ type: 'string', nullable: true, description: "A notice for the caller's country." })
  compliance_notice!: string | null;
}

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
    const tokens = this.offer.to({ token: query.to_token, chain: query.to_chain ?? CHAIN_TO });
    return { tokens, compliance_notice: this.notices.of(ip) };
  }
}
