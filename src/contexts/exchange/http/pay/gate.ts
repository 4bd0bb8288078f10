import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { SUSPENDED } from '../../../../platform/http/admission.js';
import { MERCHANT_DIRECTORY, type MerchantDirectory } from '../../../../platform/http/merchant-directory.js';
import { VisitorLimits } from '../../../../platform/http/pages/visitor-limits.js';
import type { Problem } from '../../../../platform/http/problem.js';
import { EXCHANGE_KEY_DIRECTORY, type ExchangeKeyDirectory } from '../../../access/contract.js';
import type { PayerSession } from '../../application/payer.js';
import { PaySessions } from './sessions.js';

const REVOKED: Problem = { status: 401, title: 'Invalid session', detail: 'The session has ended' };

/**
 * Whether a page and its calls are served: neither the key nor the secret is revoked, the merchant not suspended, and nobody asks too often.
 * A key may be bound to addresses that merchants call from; people open pages from anywhere.
 */
@Injectable()
export class PayGate {
  private readonly limits: VisitorLimits;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'rateLimitPerMinute' | 'rateLimitPerIpPerMinute'>,
    @Inject(EXCHANGE_KEY_DIRECTORY) private readonly keys: ExchangeKeyDirectory,
    @Inject(MERCHANT_DIRECTORY) private readonly merchants: MerchantDirectory,
    private readonly sessions: PaySessions,
  ) {
    this.limits = new VisitorLimits(config);
  }

  /** Counts a request. Null when it may go on. */
  async refusal(payer: PayerSession, address: string): Promise<Problem | null> {
    return (await this.closed(payer)) ?? this.limits.refusal(address, payer.keyId, this.sessions.link(payer));
  }

  /** Why nothing is served; null while the key, and the secret that opened the page, are valid. */
  async closed({ keyId, secretHash }: PayerSession): Promise<Problem | null> {
    const key = await this.keys.find(keyId);
    const isValid = (hash: string): boolean =>
      key?.secrets.some((secret) => this.sessions.hashOf(secret) === hash) ?? false;
    if (secretHash !== null && !isValid(secretHash)) return REVOKED;
    const merchant = key === null ? null : await this.merchants.find(key.merchantId);
    if (merchant === null) return REVOKED;
    return merchant.status === 'suspended' ? SUSPENDED : null;
  }
}
