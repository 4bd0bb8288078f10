import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { MERCHANT_DIRECTORY, type MerchantDirectory } from '../../../../platform/http/merchant-directory.js';
import type { Locale } from '../../../../platform/http/pages/locale.js';
import { isDecimal, isZero } from '../../../../kernel/decimal.js';
import { ComplianceNotices } from '../../application/compliance-notices.js';
import { iconPath } from '../../application/icons.js';
import { Onramps } from '../../application/onramps.js';
import { EXCHANGE_PROVIDERS, type ExchangeProviders } from '../../application/ports.js';
import type { Asset } from '../../domain/catalog.js';
import { paymentUri, type TestChain } from '../../domain/payment-uris.js';
import { chainOf, decimalsOf, pairsTo, tokenOf } from '../../domain/tokens.js';
import { WORDS } from '../../words/words.js';
import type { PayFacts } from './page-types.js';
import type { Opened } from './opening.js';
import { PaySessions } from './sessions.js';
import { TestPayments } from './test-payments.js';

/** All that is exchanged for (contract.md 25.2). */
const TO: Asset = { token: 'sol', chain: 'solana' };

/** What a page is opened with. */
@Injectable()
export class PayFactsOf {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'mode' | 'chainId' | 'usdcAddress'>,
    @Inject(EXCHANGE_PROVIDERS) private readonly providers: ExchangeProviders,
    @Inject(MERCHANT_DIRECTORY) private readonly merchants: MerchantDirectory,
    private readonly sessions: PaySessions,
    private readonly testPayments: TestPayments,
    private readonly onramps: Onramps,
    private readonly notices: ComplianceNotices,
  ) {}

  /** `address`: that of the visitor. */
  async of(opened: Opened, address: string, locale: Locale): Promise<PayFacts> {
    const { key, payer, hasExpired } = opened;
    const { logo, helpUrl, termsUrl } = key.page;
    const name = (await this.merchants.find(key.merchantId))?.shownAs ?? '';
    return {
      session: hasExpired ? null : this.sessions.open(payer),
      link: this.sessions.link(payer),
      sandbox: this.config.mode === 'sandbox',
      test_payments: this.testPayments.areOffered,
      merchant: { name, logo, help_url: helpUrl, terms_url: termsUrl },
      locale,
      words: WORDS[locale],
      to: {
        symbol: tokenOf(TO.token)!.symbol,
        chain: chainOf(TO.chain)!.name,
        decimals: decimalsOf(TO),
        explorer: chainOf(TO.chain)!.explorer,
        address: payer.withdrawAddress,
        tag: payer.withdrawAddressTag,
        memo: payer.withdrawAddressMemo,
      },
      offers: this.offers(),
      onramps: this.onrampsOf(opened),
      notice: this.notices.of(address),
      return_url: opened.returnUrl,
    };
  }

  private offers(): PayFacts['offers'] {
    const open = this.pairIds();
    return pairsTo(TO).map(({ id, from }) => {
      const { name: chain, explorer, tag } = chainOf(from.chain)!;
      const { id: tokenId, name, symbol } = tokenOf(from.token)!;
      const shown = { pair_id: id, is_open: open.includes(id), name, symbol, chain, explorer, tag };
      const payment_uri = paymentUri(from, this.testChain());
      return { ...shown, icon: iconPath(tokenId), decimals: decimalsOf(from), payment_uri };
    });
  }

  /** Null in production, where chains are the ones that they are called. */
  private testChain(): TestChain | null {
    const { mode, chainId, usdcAddress } = this.config;
    return mode === 'sandbox' ? { chainId, usdc: usdcAddress ?? '' } : null;
  }

  private onrampsOf({ payer, parameters }: Opened): PayFacts['onramps'] {
    const { onramp_amount: amount, onramp_fiat: fiat, onramp_only_onramps: only } = parameters;
    const purchase = {
      withdraw_address: payer.withdrawAddress,
      withdraw_address_tag: payer.withdrawAddressTag,
      withdraw_address_memo: payer.withdrawAddressMemo,
      ...TO,
      fiat: /^[A-Z]{3}$/i.test(fiat ?? '') ? fiat!.toUpperCase() : null,
      amount: isDecimal(amount, 3) && !isZero(amount) ? amount : null,
    };
    const ids = only ? only.split(',').map((id) => id.trim()) : null;
    return this.onramps.for(purchase, ids).map(({ name, url }) => ({ name, url }));
  }

  /** None while there is no provider: the page says so. */
  private pairIds(): readonly string[] {
    try {
      return this.providers.current.pairIds;
    } catch {
      return [];
    }
  }
}
