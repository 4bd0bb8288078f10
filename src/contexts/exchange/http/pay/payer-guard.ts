import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CLOCK, type Clock, HOUR_MS } from '../../../../kernel/clock.js';
import {
  MERCHANT_DIRECTORY,
  type KnownMerchant,
  type MerchantDirectory,
} from '../../../../platform/http/merchant-directory.js';
import { bearerOf, PageSessions, VisitorLimits } from '../../../../platform/http/pages/visitors.js';
import { Refusal, SUSPENDED } from '../../../../platform/http/problem.js';
import { KeyedHash } from '../../../../platform/sealing/keyed-hash.js';
import { EXCHANGE_KEY_DIRECTORY, type ExchangeKeyDirectory } from '../../../access/contract.js';
import type { Payer, PayerSession } from '../../application/payer-orders.js';
import { requestOf } from '../../../../platform/http/request-state.js';
import { exchangeConfig, type ExchangeConfig } from '../../settings.js';

/** An order is followed to its end with the session that created it; the page may have been open this long before. */
const BEFORE_MS = HOUR_MS;

/** Sessions of payers: the address that is paid to cannot change after the page was opened. */
@Injectable()
export class PaySessions extends PageSessions<PayerSession> {
  constructor(
    @Inject(CLOCK) clock: Clock,
    @Inject(exchangeConfig.KEY) config: ExchangeConfig,
    keyedHash: KeyedHash,
  ) {
    const waitSeconds = config.exchangeOrderExpirySeconds + config.exchangePaidWaitSeconds;
    super('pay session', BEFORE_MS + waitSeconds * 1000, clock, keyedHash);
  }

  /** Identifies the payer where the browser keeps the page's place. */
  link(payer: Payer): string {
    const parts = [payer.key_id, payer.withdraw_address, payer.withdraw_address_tag];
    parts.push(payer.withdraw_address_memo, payer.user_id);
    return this.keyedHash.of('pay link', JSON.stringify(parts)).slice(0, 32);
  }

  /** What a session holds of the secret that opened it. */
  hashOf(secret: string): string {
    return this.keyedHash.of('pay session secret', secret).slice(0, 32);
  }
}

export const SESSION_ENDED = { status: 401, title: 'Invalid session', detail: 'The session has ended' };

/** Who pays, and whose key it is by. */
export interface PayVisitor {
  readonly payer: PayerSession;
  readonly merchant: KnownMerchant;
}

/**
 * Lets in calls with a session whose key and secret are not revoked, of a merchant that is not suspended, and within the
 * limits of visitors. A key may be bound to addresses that merchants call from; people open pages from anywhere.
 */
@Injectable()
export class PayerGuard implements CanActivate {
  constructor(
    @Inject(EXCHANGE_KEY_DIRECTORY) private readonly keys: ExchangeKeyDirectory,
    @Inject(MERCHANT_DIRECTORY) private readonly merchants: MerchantDirectory,
    private readonly sessions: PaySessions,
    private readonly limits: VisitorLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const payer = this.sessions.read(bearerOf(request));
    if (payer === null) throw new Refusal(SESSION_ENDED);
    await this.admit(payer, request);
    return true;
  }

  /** Counts a request. Throws {@link Refusal} (401, 403, 429). */
  async admit(payer: PayerSession, { edge, ip }: FastifyRequest): Promise<PayVisitor> {
    const visitor = { payer, merchant: await this.verify(payer) };
    this.limits.take(ip, payer.key_id, this.sessions.link(payer));
    edge.merchant = { ...visitor.merchant, callerId: payer.key_id };
    edge.visitor = visitor;
    return visitor;
  }

  /** The merchant, while the key, and the secret that opened the page, are valid. Throws {@link Refusal} (401, 403). */
  async verify({ key_id: keyId, secret_hash: secretHash }: PayerSession): Promise<KnownMerchant> {
    const key = await this.keys.find(keyId);
    const hashes = key?.secrets.map((secret) => this.sessions.hashOf(secret)) ?? [];
    const isValid = secretHash === null || hashes.includes(secretHash);
    const merchant = key === null || !isValid ? null : await this.merchants.find(key.merchantId);
    if (merchant === null) throw new Refusal(SESSION_ENDED);
    if (merchant.status === 'suspended') throw new Refusal(SUSPENDED);
    return merchant;
  }
}
