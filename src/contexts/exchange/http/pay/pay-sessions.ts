import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { PageSessions } from '../../../../platform/http/pages/visitors.js';
import { KeyedHash } from '../../../../platform/sealing/keyed-hash.js';
import type { Payer, PayerSession } from '../../application/payer.js';

/** An order is followed to its end with the session that created it; the page may have been open this long before. */
const BEFORE_MS = 3_600_000;

/** Sessions of payers: the address that is paid to cannot change after the page was opened. */
@Injectable()
export class PaySessions extends PageSessions<PayerSession> {
  constructor(
    @Inject(CLOCK) clock: Clock,
    @Inject(CONFIG) config: Pick<Config, 'exchangeOrderExpirySeconds' | 'exchangePaidWaitSeconds'>,
    keyedHash: KeyedHash,
  ) {
    const waitSeconds = config.exchangeOrderExpirySeconds + config.exchangePaidWaitSeconds;
    super('pay session', BEFORE_MS + waitSeconds * 1000, clock, keyedHash);
  }

  /** Identifies the payer where the browser keeps the page's place. */
  link({ keyId, withdrawAddress, withdrawAddressTag, withdrawAddressMemo, userId }: Payer): string {
    const parts = [keyId, withdrawAddress, withdrawAddressTag, withdrawAddressMemo, userId];
    return this.keyedHash.of('pay link', JSON.stringify(parts)).slice(0, 32);
  }

  /** What a session holds of the secret that opened it. */
  hashOf(secret: string): string {
    return this.keyedHash.of('pay session secret', secret).slice(0, 32);
  }
}
