import { Inject, Injectable } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import { KeyedHash } from '../../../../platform/sealing/keyed-hash.js';

const VALID_MS = 3_600_000;

/**
 * What a browser holds after its user entered the code from the phone: the widget's address is not secret, so that
 * all further steps ask for it. `<expiry>.<keyed hash>`, good for an hour and for that user alone.
 */
@Injectable()
export class WidgetSessions {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly keyedHash: KeyedHash,
  ) {}

  open(userId: string): string {
    const expires = String(this.clock.now().getTime() + VALID_MS);
    return `${expires}.${this.hash(userId, expires)}`;
  }

  isOpen(userId: string, token: string): boolean {
    const [expires = '', given = ''] = token.split('.');
    const expected = Buffer.from(this.hash(userId, expires));
    const hash = Buffer.from(given);
    if (hash.length !== expected.length || !timingSafeEqual(hash, expected)) return false;
    return Number(expires) > this.clock.now().getTime();
  }

  /** Throws `forbidden` on `session` for one that is not open. */
  require(userId: string, token: string): void {
    if (this.isOpen(userId, token)) return;
    throw new DomainError('forbidden', 'Confirm your phone number first', { session: ['has ended'] });
  }

  private hash(userId: string, expires: string): string {
    return this.keyedHash.of('widget session', userId, expires);
  }
}
