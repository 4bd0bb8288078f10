import { Injectable } from '@nestjs/common';
import { isDecimal, isZero, needed } from '../../../kernel/decimal.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { decimalsOf, pairOf } from '../domain/catalog.js';
import { ProviderRefused } from '../../../platform/outbound/provider-errors.js';
import type { Quote } from '../domain/order-events.js';
import { ExchangeProviders, unavailableResponse } from './exchange-providers.js';

/** An amount of one side, or of neither for the pair's default. Decimal strings, not checked yet. */
interface QuoteRequest {
  readonly pairId: unknown;
  readonly amountFrom?: unknown;
  readonly amountTo?: unknown;
}

/** Current prices, from the amount of either side. */
@Injectable()
export class Quotes {
  constructor(private readonly providers: ExchangeProviders) {}

  /** `keyId`: whose callers wait. Throws `validation_failed`, also for an amount outside the pair's limits, and `unavailable`. */
  async of(keyId: string, { pairId, amountFrom, amountTo }: QuoteRequest): Promise<Quote> {
    const pair = typeof pairId === 'string' ? pairOf(pairId) : null;
    if (pair === null) throw DomainError.invalid({ pair_id: ['is not a pair'] });
    const decimals = decimalsOf(pair.from);
    if (amountTo === undefined) {
      const amount = amountFrom === undefined ? null : amountOf('amount_from', amountFrom, decimals);
      return this.quote(keyId, pair.id, amount);
    }
    const requested = amountOf('amount_to', amountTo, decimalsOf(pair.to));
    const { rate } = await this.quote(keyId, pair.id, null);
    return this.quote(keyId, pair.id, needed(requested, rate, decimals));
  }

  private async quote(keyId: string, pairId: string, amountFrom: string | null): Promise<Quote> {
    const { name } = this.providers.current;
    try {
      return await this.providers.call(name, { operation: 'quote', keyId }, (provider) =>
        provider.quote(pairId, amountFrom),
      );
    } catch (error) {
      if (error instanceof ProviderRefused) throw DomainError.invalid({ pair_id: [error.message] });
      throw unavailableResponse(error);
    }
  }
}

/** An amount from the page. Throws `validation_failed`. */
export function amountOf(name: string, value: unknown, decimals: number): string {
  if (!isDecimal(value, decimals) || isZero(value))
    throw DomainError.invalid({
      [name]: [`must be more than 0, with at most ${decimals} digits after the point`],
    });
  return value;
}
