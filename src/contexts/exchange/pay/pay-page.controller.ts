import { Controller, Get, Inject, Injectable, Optional, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isAtLeast, isDecimal, isZero, minus } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { toMinorUnits } from '../../../kernel/money.js';
import { chainConfig, type ChainConfig } from '../../../platform/config/config.js';
import { Public } from '../../../platform/http/api.guard.js';
import { acceptsHtml, sendPage } from '../../../platform/http/pages/document.js';
import { readLocale, type Locale } from '../../../platform/http/pages/locale.js';
import type { Page } from '../../../platform/http/listeners.js';
import { PageController, SharedWith } from '../../../platform/http/pages/page.js';
import { Refusal } from '../../../platform/http/problem.js';
import { iconPath, icons } from '../tokens/tokens.controller.js';
import { ComplianceNotices } from '../orders/compliance-notices.service.js';
import { Onramps } from '../providers/onramps.service.js';
import { ExchangeProviders } from '../providers/exchange-providers.service.js';
import { TEST_MONEY, type TestMoney } from '../providers/exchange-provider.ports.js';
import { chainOf, countDecimals, tokenOf, paymentUri, PAID_OUT as TO, PAIRS } from '../tokens/catalog.js';
import { isOnCurve } from '../orders/addresses.js';
import { amountReceived, hasEnded, isOpen, transitionError, type ExistingOrder } from '../orders/order.js';
import { orderRecord } from '../orders/order-record.js';
import de from '../words/de.json' with { type: 'json' };
import en from '../words/en.json' with { type: 'json' };
import es from '../words/es.json' with { type: 'json' };
import { type PayLink, PaySessions, PayerGuard } from './payer.guard.js';
import type { Messages, PayFacts, PayOrder, Transfer } from './pay.dto.js';
import { DEV_CHAIN_ID, exchangeConfig, type ExchangeConfig } from '../exchange.config.js';

export const MESSAGES: Readonly<Record<Locale, Messages>> = { en, es, de };

/** The pay widget, `{pay_url}/widget` (contract.md 26). */
export const PAY_PAGE: Page = {
  name: 'pay',
  path: '/widget',
  role: 'widget',
  port: ({ payPort }) => payPort,
  messages: MESSAGES,
  media: "img-src 'self' data:",
  requestTimeoutMs: 15_000,
};

/** Returns the order as the page displays it. `now` is in epoch ms. */
export function payOrder(state: ExistingOrder, now: number): PayOrder {
  const order = orderRecord(state);
  const { amount_from: amount, amount_received: received } = order;
  const missing = isAtLeast(received, amount) ? '0' : minus(amount, received);
  return { order, missing, transfers: toTransfers(state), is_final: hasEnded(state), now };
}

function toTransfers(state: ExistingOrder): readonly Transfer[] {
  const { withdraw_transaction_hash: payout, refund_transaction_hash: refund } = state;
  const transfers = (
    kind: Transfer['kind'],
    all: readonly { amount: string; transaction_hash: string | null }[],
  ) => all.flatMap(({ amount, transaction_hash: hash }) => (hash === null ? [] : [{ kind, amount, hash }]));
  return [
    ...transfers('deposit', state.deposits),
    ...transfers('late', state.late_deposits),
    ...transfers('payout', [{ amount: state.amount_to, transaction_hash: payout }]),
    ...transfers('refund', [{ amount: amountReceived(state), transaction_hash: refund }, ...state.refunds]),
  ];
}

/** Pays orders of the sandbox with test USDC. */
@Injectable()
export class TestPayments {
  constructor(
    @Inject(chainConfig.KEY) private readonly config: ChainConfig,
    @Optional() @Inject(TEST_MONEY) private readonly money?: TestMoney,
  ) {}

  /** Returns true only on the sandbox's dev chain, because the key of the test money is public. */
  get areOffered(): boolean {
    const { mode, chainId } = this.config;
    return this.money !== undefined && mode === 'sandbox' && chainId === DEV_CHAIN_ID;
  }

  /** Pays the missing part of an open order. Throws `not_found` outside the sandbox. */
  async pay(state: ExistingOrder): Promise<void> {
    const { provider, deposit_address: address } = state;
    if (!this.areOffered || this.money === undefined || provider !== 'sandbox')
      throw DomainError.notFound('Page');
    const { missing } = payOrder(state, 0);
    if (!isOpen(state) || missing === '0') throw transitionError(`The order is ${state.status}, not payable`);
    await this.money.transfer(address, toMinorUnits(missing));
  }
}

@PageController(PAY_PAGE)
export class PayPageController {
  constructor(
    @Inject(exchangeConfig.KEY) private readonly config: ExchangeConfig,
    @Inject(chainConfig.KEY) private readonly chain: ChainConfig,
    private readonly providers: ExchangeProviders,
    private readonly payers: PayerGuard,
    private readonly sessions: PaySessions,
    private readonly testPayments: TestPayments,
    private readonly onramps: Onramps,
    private readonly notices: ComplianceNotices,
  ) {}

  @Get('widget')
  async open(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const link = await this.payers.open(request);
    const { merchant } = await this.payers.admit(link.payer, request);
    if (link.payer.has_expired) {
      if (!acceptsHtml(request))
        throw new Refusal({ status: 401, title: 'Invalid link', detail: 'The link has expired' });
      reply.status(401);
    }
    const [locale, name] = [readLocale(request), merchant.name];
    const { title, expiredLink, expiredLinkText } = MESSAGES[locale];
    const heading = link.payer.has_expired ? expiredLink : title;
    sendPage(reply, PAY_PAGE, {
      locale,
      framedBy: this.config.payFramedBy,
      title: `${heading} · ${name}`,
      heading,
      ...(link.payer.has_expired && { text: expiredLinkText.replace('{merchant}', () => name) }),
      facts: this.toFacts(link, name, request.ip, locale),
    });
  }

  private toFacts(link: PayLink, name: string, ip: string, locale: Locale): PayFacts {
    const { payer, key } = link;
    const { logo, help_url, terms_url } = key.page;
    return {
      session: this.sessions.open(payer),
      has_expired: payer.has_expired === true,
      link: this.sessions.link(payer),
      sandbox: this.config.mode === 'sandbox',
      test_payments: this.testPayments.areOffered,
      merchant: { name, logo, help_url, terms_url },
      locale,
      messages: MESSAGES[locale],
      to: {
        symbol: tokenOf(TO.token)!.symbol,
        chain: chainOf(TO.chain)!.name,
        decimals: countDecimals(TO),
        explorer: chainOf(TO.chain)!.explorer,
        address: payer.withdraw_address,
        is_of_program: !isOnCurve(payer.withdraw_address),
        tag: payer.withdraw_address_tag,
        memo: payer.withdraw_address_memo,
      },
      offers: this.offers(),
      onramps: this.listOnramps(link),
      notice: this.notices.of(ip),
      return_url: link.returnUrl,
    };
  }

  private offers(): PayFacts['offers'] {
    const { mode, chainId, usdcAddress } = this.chain;
    // The sandbox replaces Ethereum by its own chain.
    const testChain = mode === 'sandbox' ? { chainId, usdc: usdcAddress ?? '' } : null;
    const open = this.providers.isConfigured ? this.providers.current.pairIds : [];
    return PAIRS.map(({ id, from }) => {
      const { name: chain, explorer, tag } = chainOf(from.chain)!;
      const { id: tokenId, name, symbol } = tokenOf(from.token)!;
      return {
        pair_id: id,
        is_open: open.includes(id),
        name,
        symbol,
        chain,
        explorer,
        tag,
        icon: iconPath(tokenId),
        decimals: countDecimals(from),
        payment_uri: paymentUri(from, testChain),
      };
    });
  }

  private listOnramps({ payer, parameters }: PayLink): PayFacts['onramps'] {
    const { onramp_amount: amount, onramp_fiat: fiat, onramp_only_onramps: only } = parameters;
    const purchase = {
      ...payer,
      ...TO,
      fiat: /^[A-Z]{3}$/i.test(fiat ?? '') ? fiat!.toUpperCase() : null,
      amount: isDecimal(amount, 3) && !isZero(amount) ? amount : null,
    };
    const ids = only ? only.split(',').map((id) => id.trim()) : null;
    return this.onramps.for(purchase, ids).map(({ name, url }) => ({ name, url }));
  }
}

/** The headers of icons. Any page may embed them; an SVG must not run or load anything. */
const ICON_HEADERS = {
  'content-type': 'image/svg+xml; charset=utf-8',
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
};

/** Serves the token icons of `icon_url` (contract.md 25.1) and the pay widget. */
@Controller('icons')
@Public()
export class IconsController {
  @Get(':file')
  @SharedWith(PAY_PAGE, '/icons/:file')
  file(@Param('file') name: string, @Res() reply: FastifyReply): void {
    const svg = icons.get(name);
    if (svg === undefined) throw DomainError.notFound('Icon');
    reply.headers(ICON_HEADERS).send(svg);
  }
}
