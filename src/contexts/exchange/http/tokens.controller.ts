import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '../../../kernel/domain-error.js';
import { httpConfig, type HttpConfig } from '../../../platform/config/config.js';
import { ApiProperty, Field, Many } from '../../../platform/dto/field.js';
import { Inputs } from '../../../platform/http/decorators.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { icon, iconUrl } from '../application/icons.js';
import { ComplianceNotices } from '../application/compliance-notices.js';
import { ExchangeProviders } from '../application/exchange-providers.js';
import { offered } from '../domain/catalog.js';
import { CalledFrom, type CallerAddress } from './caller.js';
import { CHAIN_TO, CHAINS_TO, code, nonEmpty, TOKENS_TO } from './parameters.js';

/** Query of GET /v1/tokens. */
class TokensQuery {
  @Field(code(TOKENS_TO), { description: 'What is paid out.' }) to_token!: string;
  @Field(code(CHAINS_TO), { optional: true }) to_chain?: string;
  @Field(nonEmpty, { optional: true, description: 'For tracking.' }) user_id?: string;
}

class TokenChain {
  @ApiProperty({ type: 'string', examples: ['ethereum'] }) id!: string;
  @ApiProperty({ type: 'string' }) name!: string;
}

class Token {
  @ApiProperty({ type: 'string', examples: ['usdc'] }) id!: string;
  @ApiProperty({ type: 'string' }) name!: string;
  @ApiProperty({ type: 'string', format: 'uri' }) icon_url!: string;
  @Many(() => TokenChain, { minItems: 1 }) chains!: readonly TokenChain[];

  @ApiProperty({ type: 'array', items: { type: 'string' }, description: 'What POST /v1/orders takes.' })
  pair_ids!: readonly string[];
}

/** contract.md 25.1. */
class TokensResponse {
  @Many(() => Token) tokens!: readonly Token[];

  @ApiProperty({ type: 'string', nullable: true, description: "A notice for the caller's country." })
  compliance_notice!: string | null;
}

/** contract.md 25.1. */
@Controller('v1/tokens')
export class TokensController {
  constructor(
    private readonly providers: ExchangeProviders,
    private readonly notices: ComplianceNotices,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
  ) {}

  @Get()
  @ApiRoute({
    id: 'listTokens',
    tag: 'Exchange',
    summary: 'List tokens that can be exchanged',
    responses: {
      200: [TokensResponse, 'Tokens, the chains they are on, and the pairs to make orders with.'],
      422: 'A parameter is missing or wrong.',
    },
  })
  list(@CalledFrom() { ip }: CallerAddress, @Inputs() query: TokensQuery): TokensResponse {
    const to = { token: query.to_token, chain: query.to_chain ?? CHAIN_TO };
    const tokens = offered(to, this.providers.current.pairIds).map(({ token, chains, pairs }) => ({
      id: token.id,
      name: token.name,
      icon_url: iconUrl(this.config, token.id),
      chains: chains.map(({ id, name }) => ({ id, name })),
      pair_ids: pairs.map(({ id }) => id),
    }));
    return { tokens, compliance_notice: this.notices.of(ip) };
  }
}

/** For pages of merchants and the pay widget: nothing in an SVG may run or load, wherever it is opened. */
const ICON_HEADERS = {
  'content-type': 'image/svg+xml; charset=utf-8',
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
};

/** Throws `not_found`. */
export function sendIcon(name: string, reply: FastifyReply): FastifyReply {
  const svg = icon(name);
  if (svg === null) throw DomainError.notFound('Icon');
  return reply.headers(ICON_HEADERS).send(svg);
}

/** The pictures that `icon_url` names (contract.md 25.1). */
@Controller('icons')
export class IconsController {
  @Get(':file')
  file(@Param('file') name: string, @Res() reply: FastifyReply): void {
    sendIcon(name, reply);
  }
}
