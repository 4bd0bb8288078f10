import { Inject, Injectable } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { KeyedHash } from '../../../../platform/sealing/keyed-hash.js';
import type { Payer, PayerSession } from '../../application/payer.js';

/** An order is followed to its end with the session that made it; so long that may have been open before. */
const BEFORE_MS = 3_600_000;
const MOST_CHARACTERS = 8192;

/**
 * What a page holds from its opening on: for whom it was opened, and until when, under a keyed hash. The address that is
 * paid to cannot be another one afterwards. `<payer as JSON in base64url>.<expiry in epoch ms>.<hash>`.
 */
@Injectable()
export class PaySessions {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG)
    private readonly config: Pick<Config, 'exchangeOrderExpirySeconds' | 'exchangePaidWaitSeconds'>,
    private readonly keyedHash: KeyedHash,
  ) {}

  open(payer: PayerSession): string {
    const text = JSON.stringify([...partsOf(payer), payer.secretHash]);
    const encoded = Buffer.from(text).toString('base64url');
    const expires = String(this.clock.now().getTime() + this.validMs);
    return `${encoded}.${expires}.${this.hash(encoded, expires)}`;
  }

  /** For whom the session was opened; null for one that nobody opened here, or that has ended. */
  read(token: string): PayerSession | null {
    if (token.length > MOST_CHARACTERS) return null;
    const [encoded = '', expires = '', given = ''] = token.split('.');
    const expected = Buffer.from(this.hash(encoded, expires));
    const hash = Buffer.from(given);
    if (hash.length !== expected.length || !timingSafeEqual(hash, expected)) return null;
    if (Number(expires) <= this.clock.now().getTime()) return null;
    const [keyId, withdrawAddress, withdrawAddressTag, withdrawAddressMemo, userId, secretHash] = JSON.parse(
      Buffer.from(encoded, 'base64url').toString(),
    ) as [string, string, string | null, string | null, string | null, string | null];
    return { keyId, withdrawAddress, withdrawAddressTag, withdrawAddressMemo, userId, secretHash };
  }

  /** Stands for the payer where the browser keeps the page's place. */
  link(payer: Payer): string {
    return this.keyedHash.of('pay link', JSON.stringify(partsOf(payer))).slice(0, 32);
  }

  /** What a session keeps of the secret that opened it. */
  hashOf(secret: string): string {
    return this.keyedHash.of('pay session secret', secret).slice(0, 32);
  }

  private get validMs(): number {
    const { exchangeOrderExpirySeconds, exchangePaidWaitSeconds } = this.config;
    return BEFORE_MS + (exchangeOrderExpirySeconds + exchangePaidWaitSeconds) * 1000;
  }

  private hash(encoded: string, expires: string): string {
    return this.keyedHash.of('pay session', encoded, expires);
  }
}

function partsOf({ keyId, withdrawAddress, withdrawAddressTag, withdrawAddressMemo, userId }: Payer) {
  return [keyId, withdrawAddress, withdrawAddressTag, withdrawAddressMemo, userId] as const;
}
