import { Controller, Get, Inject } from '@nestjs/common';
import { httpConfig, type HttpConfig, listenerUrl } from '../../../platform/config/config.js';
import { ApiProperty, Field, Many } from '../../../platform/dto/field.js';
import { Inputs } from '../../../platform/http/decorators.js';
import { Visit } from '../../../platform/http/pages/page.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { ComplianceNotices } from '../orders/compliance-notices.service.js';
import { ExchangeProviders } from '../providers/exchange-providers.service.js';
import { offered } from './catalog.js';
import type { ExchangeVisit } from '../orders/exchange-key.guard.js';
import { chainTo, nonEmpty, NOTICE, tokenTo } from '../orders/orders.dto.js';
import { createHash } from 'node:crypto';

class TokensQuery {
  @Field(tokenTo, { description: 'What is paid out.' }) to_token!: string;
  @Field(chainTo, { optional: true }) to_chain?: string;
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

class TokensResponse {
  @Many(() => Token) tokens!: readonly Token[];

  @ApiProperty(NOTICE) compliance_notice!: string | null;
}

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
  list(@Visit() { ip }: ExchangeVisit, @Inputs() _query: TokensQuery): TokensResponse {
    const tokens = offered(this.providers.current.pairIds).map(({ token, chains, pairs }) => ({
      id: token.id,
      name: token.name,
      icon_url: iconUrl(this.config, token.id),
      chains: chains.map(({ id, name }) => ({ id, name })),
      pair_ids: pairs.map(({ id }) => id),
    }));
    return { tokens, compliance_notice: this.notices.of(ip) };
  }
}

/** The token icons: "color" of cryptocurrency-icons 0.18.1 (public domain, CC0 1.0), unchanged. */
const ICONS: Readonly<Record<string, string>> = {
  usdc: '<svg width="32" height="32" viewBox="0 0 32 32" xmlns="http://www.w3.org/2000/svg"><g fill="none"><circle fill="#3E73C4" cx="16" cy="16" r="16"/><g fill="#FFF"><path d="M20.022 18.124c0-2.124-1.28-2.852-3.84-3.156-1.828-.243-2.193-.728-2.193-1.578 0-.85.61-1.396 1.828-1.396 1.097 0 1.707.364 2.011 1.275a.458.458 0 00.427.303h.975a.416.416 0 00.427-.425v-.06a3.04 3.04 0 00-2.743-2.489V9.142c0-.243-.183-.425-.487-.486h-.915c-.243 0-.426.182-.487.486v1.396c-1.829.242-2.986 1.456-2.986 2.974 0 2.002 1.218 2.791 3.778 3.095 1.707.303 2.255.668 2.255 1.639 0 .97-.853 1.638-2.011 1.638-1.585 0-2.133-.667-2.316-1.578-.06-.242-.244-.364-.427-.364h-1.036a.416.416 0 00-.426.425v.06c.243 1.518 1.219 2.61 3.23 2.914v1.457c0 .242.183.425.487.485h.915c.243 0 .426-.182.487-.485V21.34c1.829-.303 3.047-1.578 3.047-3.217z"/><path d="M12.892 24.497c-4.754-1.7-7.192-6.98-5.424-11.653.914-2.55 2.925-4.491 5.424-5.402.244-.121.365-.303.365-.607v-.85c0-.242-.121-.424-.365-.485-.061 0-.183 0-.244.06a10.895 10.895 0 00-7.13 13.717c1.096 3.4 3.717 6.01 7.13 7.102.244.121.488 0 .548-.243.061-.06.061-.122.061-.243v-.85c0-.182-.182-.424-.365-.546zm6.46-18.936c-.244-.122-.488 0-.548.242-.061.061-.061.122-.061.243v.85c0 .243.182.485.365.607 4.754 1.7 7.192 6.98 5.424 11.653-.914 2.55-2.925 4.491-5.424 5.402-.244.121-.365.303-.365.607v.85c0 .242.121.424.365.485.061 0 .183 0 .244-.06a10.895 10.895 0 007.13-13.717c-1.096-3.46-3.778-6.07-7.13-7.162z"/></g></g></svg>',
  usdt: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g fill="none" fill-rule="evenodd"><circle cx="16" cy="16" r="16" fill="#26A17B"/><path fill="#FFF" d="M17.922 17.383v-.002c-.11.008-.677.042-1.942.042-1.01 0-1.721-.03-1.971-.042v.003c-3.888-.171-6.79-.848-6.79-1.658 0-.809 2.902-1.486 6.79-1.66v2.644c.254.018.982.061 1.988.061 1.207 0 1.812-.05 1.925-.06v-2.643c3.88.173 6.775.85 6.775 1.658 0 .81-2.895 1.485-6.775 1.657m0-3.59v-2.366h5.414V7.819H8.595v3.608h5.414v2.365c-4.4.202-7.709 1.074-7.709 2.118 0 1.044 3.309 1.915 7.709 2.118v7.582h3.913v-7.584c4.393-.202 7.694-1.073 7.694-2.116 0-1.043-3.301-1.914-7.694-2.117"/></g></svg>',
  eth: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g fill="none" fill-rule="evenodd"><circle cx="16" cy="16" r="16" fill="#627EEA"/><g fill="#FFF" fill-rule="nonzero"><path fill-opacity=".602" d="M16.498 4v8.87l7.497 3.35z"/><path d="M16.498 4L9 16.22l7.498-3.35z"/><path fill-opacity=".602" d="M16.498 21.968v6.027L24 17.616z"/><path d="M16.498 27.995v-6.028L9 17.616z"/><path fill-opacity=".2" d="M16.498 20.573l7.497-4.353-7.497-3.348z"/><path fill-opacity=".602" d="M9 16.22l7.498 4.353v-7.701z"/></g></g></svg>',
  btc: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g fill="none" fill-rule="evenodd"><circle cx="16" cy="16" r="16" fill="#F7931A"/><path fill="#FFF" fill-rule="nonzero" d="M23.189 14.02c.314-2.096-1.283-3.223-3.465-3.975l.708-2.84-1.728-.43-.69 2.765c-.454-.114-.92-.22-1.385-.326l.695-2.783L15.596 6l-.708 2.839c-.376-.086-.746-.17-1.104-.26l.002-.009-2.384-.595-.46 1.846s1.283.294 1.256.312c.7.175.826.638.805 1.006l-.806 3.235c.048.012.11.03.18.057l-.183-.045-1.13 4.532c-.086.212-.303.531-.793.41.018.025-1.256-.313-1.256-.313l-.858 1.978 2.25.561c.418.105.828.215 1.231.318l-.715 2.872 1.727.43.708-2.84c.472.127.93.245 1.378.357l-.706 2.828 1.728.43.715-2.866c2.948.558 5.164.333 6.097-2.333.752-2.146-.037-3.385-1.588-4.192 1.13-.26 1.98-1.003 2.207-2.538zm-3.95 5.538c-.533 2.147-4.148.986-5.32.695l.95-3.805c1.172.293 4.929.872 4.37 3.11zm.535-5.569c-.487 1.953-3.495.96-4.47.717l.86-3.45c.975.243 4.118.696 3.61 2.733z"/></g></svg>',
  ltc: '<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32" viewBox="0 0 32 32"><g fill="none" fill-rule="evenodd"><circle cx="16" cy="16" r="16" fill="#BFBBBB"/><path fill="#FFF" d="M10.427 19.214L9 19.768l.688-2.759 1.444-.58L13.213 8h5.129l-1.519 6.196 1.41-.571-.68 2.75-1.427.571-.848 3.483H23L22.127 24H9.252z"/></g></svg>',
  xrp: '<svg width="32" height="32" viewBox="0 0 32 32" xmlns="http://www.w3.org/2000/svg"><g fill="none"><circle cx="16" cy="16" r="16" fill="#23292F"/><path d="M23.07 8h2.89l-6.015 5.957a5.621 5.621 0 01-7.89 0L6.035 8H8.93l4.57 4.523a3.556 3.556 0 004.996 0L23.07 8zM8.895 24.563H6l6.055-5.993a5.621 5.621 0 017.89 0L26 24.562h-2.895L18.5 20a3.556 3.556 0 00-4.996 0l-4.61 4.563z" fill="#FFF"/></g></svg>',
  xlm: '<svg width="32" height="32" viewBox="0 0 32 32" xmlns="http://www.w3.org/2000/svg"><g fill="none"><circle cx="16" cy="16" r="16" fill="#000"/><path d="M23.13 9.292l-2.4 1.224-11.598 5.907A6.909 6.909 0 0119.35 9.498l1.374-.7.205-.105a8.439 8.439 0 00-13.371 7.472 1.535 1.535 0 01-.834 1.484l-.725.37v1.724l2.134-1.088.691-.353.681-.347 12.226-6.23 1.374-.699 2.84-1.447V7.856L23.13 9.292zm2.816 2.012L10.201 19.32l-1.374.7L6 21.463v1.723l2.808-1.43 2.401-1.224 11.61-5.916a6.909 6.909 0 01-10.229 6.93l-.085.045-1.49.76a8.439 8.439 0 0013.372-7.475 1.536 1.536 0 01.833-1.483l.726-.37v-1.718z" fill="#FFF"/></g></svg>',
  sol: '<svg width="32" height="32" viewBox="0 0 32 32" xmlns="http://www.w3.org/2000/svg"><g fill="none"><circle fill="#66F9A1" cx="16" cy="16" r="16"/><path d="M9.925 19.687a.59.59 0 01.415-.17h14.366a.29.29 0 01.207.497l-2.838 2.815a.59.59 0 01-.415.171H7.294a.291.291 0 01-.207-.498l2.838-2.815zm0-10.517A.59.59 0 0110.34 9h14.366c.261 0 .392.314.207.498l-2.838 2.815a.59.59 0 01-.415.17H7.294a.291.291 0 01-.207-.497L9.925 9.17zm12.15 5.225a.59.59 0 00-.415-.17H7.294a.291.291 0 00-.207.498l2.838 2.815c.11.109.26.17.415.17h14.366a.291.291 0 00.207-.498l-2.838-2.815z" fill="#FFF"/></g></svg>',
};

/** Returns a file name with a hash of the picture, so that caches may keep the file for ever. */
function fileName(tokenId: string): string {
  return `${tokenId}-${createHash('sha256').update(ICONS[tokenId]!).digest('hex').slice(0, 12)}.svg`;
}

export const icons: ReadonlyMap<string, string> = new Map(
  Object.entries(ICONS).map(([id, svg]) => [fileName(id), svg]),
);

export function iconPath(tokenId: string): string {
  return `/icons/${fileName(tokenId)}`;
}

export function iconUrl({ publicUrl, host, port }: HttpConfig, tokenId: string): string {
  const base = publicUrl ?? listenerUrl(host, port);
  return `${base.replace(/\/+$/, '')}${iconPath(tokenId)}`;
}
