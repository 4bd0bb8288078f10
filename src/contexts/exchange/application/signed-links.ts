import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { listenerUrl } from '../../../platform/config/listener-url.js';
import type { ExchangeCaller } from '../../access/contract.js';
import { SIGNED_URL_LASTS_MS, signedQuery } from './signed-url.js';

const NONCE_BYTES = 16;

/** Links to the pay widget (contract.md 25.4). */
@Injectable()
export class SignedLinks {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'mode' | 'payUrl' | 'host' | 'payPort'>,
  ) {}

  /**
   * A link with the parameters, under the newest secret of the key: the other one is about to go. Throws DomainError
   * `unavailable` when nobody has said where the widget is.
   */
  make(
    { keyId, secrets }: ExchangeCaller,
    parameters: Readonly<Record<string, string | undefined>>,
  ): { readonly url: string; readonly expiresAt: string } {
    const expiry = this.clock.now().getTime() + SIGNED_URL_LASTS_MS;
    // The link counts seconds.
    const expiresAt = new Date(Math.floor(expiry / 1000) * 1000);
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    const query = signedQuery(
      { api_key: keyId, ...parameters },
      { secret: secrets.at(-1)!, nonce, expiresAt },
    );
    return { url: `${this.base().replace(/\/+$/, '')}/widget?${query}`, expiresAt: expiresAt.toISOString() };
  }

  private base(): string {
    const { mode, payUrl, host, payPort } = this.config;
    if (payUrl !== null) return payUrl;
    if (mode === 'production') throw new DomainError('unavailable', 'The pay widget has no address');
    return listenerUrl(host, payPort);
  }
}
