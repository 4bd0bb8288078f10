import { Injectable } from '@nestjs/common';
import { isDecimal, isZero, needed } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { decimalsOf, pairOf } from '../domain/tokens.js';
import { ProviderRefused, type Quote } from './ports.js';
import { ProviderCalls, providerIsAway } from './provider-calls.js';

/** What is asked about: an amount of one side, or of neither for the pair's default. Decimal strings, not checked yet. */
export interface Wanted {
  readonly pairId: unknown;
  readonly amountFrom?: unknown;
  readonly amountTo?: unknown;
}

/** What a pair costs now, asked from either side. */
@Injectable()
export class Quotes {
  constructor(private readonly calls: ProviderCalls) {}

  /** `keyId`: whose callers ask. Throws `validation_failed`, also for an amount outside the pair's limits, and `unavailable`. */
  async of(keyId: string, { pairId, amountFrom, amountTo }: Wanted): Promise<Quote> {
    const pair = typeof pairId === 'string' ? pairOf(pairId) : null;
    if (pair === null) throw DomainError.invalid({ pair_id: ['is no pair'] });
    const decimals = decimalsOf(pair.from);
    if (amountTo === undefined)
      return this.ask(
        keyId,
        pair.id,
        amountFrom === undefined ? null : amountOf('amount_from', amountFrom, decimals),
      );
    const wanted = amountOf('amount_to', amountTo, decimalsOf(pair.to));
    const { rate } = await this.ask(keyId, pair.id, null);
    return this.ask(keyId, pair.id, needed(wanted, rate, decimals));
  }

  private async ask(keyId: string, pairId: string, amountFrom: string | null): Promise<Quote> {
    try {
      return await this.calls.call(this.calls.current, keyId, (provider) =>
        provider.quote(pairId, amountFrom),
      );
    } catch (error) {
      if (error instanceof ProviderRefused) throw DomainError.invalid({ pair_id: [error.message] });
      throw providerIsAway(error);
    }
  }
}

/** An amount that somebody typed. Throws `validation_failed`. */
export function amountOf(name: string, value: unknown, decimals: number): string {
  if (!isDecimal(value, decimals) || isZero(value))
    throw DomainError.invalid({
      [name]: [`must be more than 0, with at most ${decimals} digits after the point`],
    });
  return value;
}
