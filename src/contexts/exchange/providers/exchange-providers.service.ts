import { Logger, type LoggerService } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { ProviderState } from '../../../platform/telemetry/process-facts.js';
import { withTimeout } from '../../../platform/timeout.js';
import { providerDuration, providerErrors } from '../exchange.metrics.js';
import { backoffMs } from '../../../platform/jobs/backoff.js';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import type { ExchangeProvider } from './exchange-provider.ports.js';
import { isDecimal, isZero, needed } from '../../../kernel/decimal.js';
import type { Quote } from '../orders/order-events.js';
import { countDecimals, pairOf } from '../tokens/catalog.js';

const MAX_KEYS = 10_000;
const RETRY_AFTER_SECONDS = 5;

const CALL_TIMEOUT_MS = 10_000;
/** The number of consecutive failed calls after which calls pause. */
const TOLERATED = 3;
/** The time after the last failed call for which the provider counts as unavailable. */
const OUTAGE_MS = 60_000;
const BACKOFF = { firstMs: 500, maxMs: 5000 };

/** A circuit breaker on the monotonic clock. */
class Circuit {
  private failures = 0;
  private failedAt = -Infinity;
  /** The end of the pause, on the clock of `performance.now()`. */
  openUntil = -Infinity;

  /** Awaits a call that starts now, up to the timeout. A half-open circuit refuses other calls meanwhile. */
  async watch<T>(call: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    if (this.failures >= TOLERATED) this.openUntil = startedAt + CALL_TIMEOUT_MS;
    try {
      const result = await withTimeout(CALL_TIMEOUT_MS, call, () => {
        throw new ProviderUnavailable(`no response within ${CALL_TIMEOUT_MS / 1000} s`);
      });
      this.close();
      return result;
    } catch (error) {
      if (kindOf(error) === 'unavailable') this.fail(startedAt);
      else this.close();
      throw error;
    }
  }

  /** True while the last calls failed and the latest of them is recent. */
  get isFailing(): boolean {
    return this.failures >= TOLERATED && performance.now() - this.failedAt < OUTAGE_MS;
  }

  private close(): void {
    this.failures = 0;
    this.openUntil = -Infinity;
  }

  /** Counts a failed call; concurrent failed calls count once. */
  private fail(startedAt: number): void {
    const now = performance.now();
    if (startedAt < this.failedAt) return;
    this.failures += 1;
    this.failedAt = now;
    if (this.failures >= TOLERATED) this.openUntil = now + backoffMs(BACKOFF, this.failures - TOLERATED);
  }
}

interface Call {
  readonly operation: 'quote' | 'create' | 'status' | 'settle' | 'cancel';
  readonly orderId?: string;
  /** The API key of the waiting callers; null for the service's own calls. */
  readonly keyId: string | null;
}

/** Calls the configured providers with a timeout, metrics, an error log and a circuit breaker (ADR 117). */
export class ExchangeProviders {
  private readonly providers: ReadonlyMap<string, ExchangeProvider>;
  /** The circuits by provider of the service's own calls. An open circuit pauses calls for keys too. */
  private readonly circuits: ReadonlyMap<string, Circuit>;
  /** The circuits of all calls by provider. They only report readiness and pause no call. */
  private readonly circuitsOfAll: ReadonlyMap<string, Circuit>;
  /** The circuits by key: failures that a key's callers provoke pause only that key's calls (ADR 150). */
  private readonly circuitsOfKeys = new LRUCache<string, Circuit>({
    ...upTo(MAX_KEYS),
    memoMethod: () => new Circuit(),
  });

  constructor(
    providers: readonly ExchangeProvider[],
    /** The provider of new orders. Null and unknown names mean none. */
    private readonly currentName: string | null,
    private readonly log: Pick<LoggerService, 'warn' | 'error'> = new Logger(ExchangeProviders.name),
  ) {
    this.providers = new Map(providers.map((provider) => [provider.name, provider]));
    this.circuits = new Map(providers.map(({ name }) => [name, new Circuit()]));
    this.circuitsOfAll = new Map(providers.map(({ name }) => [name, new Circuit()]));
  }

  /** The provider of new orders. Throws `unavailable` if none is configured. */
  get current(): ExchangeProvider {
    const provider = this.providers.get(this.currentName ?? '');
    if (provider === undefined) throw new DomainError('unavailable', 'No exchange provider is configured');
    return provider;
  }

  get isConfigured(): boolean {
    return this.providers.has(this.currentName ?? '');
  }

  /** Returns the providers whose own circuit is open, or whose last calls failed for any caller. */
  unavailable(): readonly string[] {
    const now = performance.now();
    return [...this.circuits]
      .filter(([name, { openUntil }]) => openUntil > now || this.circuitsOfAll.get(name)!.isFailing)
      .map(([name]) => name);
  }

  /** Returns the state of the provider of new orders for the admin API. */
  facts(): ProviderState {
    const name = this.currentName ?? 'none';
    const status = this.unavailable().includes(name) ? 'unavailable' : 'ok';
    return { name: `exchange:${name}`, status: this.isConfigured ? status : 'missing' };
  }

  /** Calls a provider. Throws the error of `work`, or ProviderUnavailable on timeout or open circuit. */
  async call<T>(name: string, call: Call, work: (provider: ExchangeProvider) => Promise<T>): Promise<T> {
    const provider = this.providers.get(name);
    if (provider === undefined)
      throw new ProviderUnavailable(`the exchange provider ${name} is not configured`);
    const own = this.circuits.get(name)!;
    const circuit = call.keyId === null ? own : this.circuitsOfKeys.memo(`${name} ${call.keyId}`);
    if (performance.now() < Math.max(own.openUntil, circuit.openUntil))
      throw new ProviderUnavailable(`${name} was unavailable seconds ago`);
    const watched = circuit.watch(this.measured(provider, call, () => work(provider)));
    return this.circuitsOfAll.get(name)!.watch(watched);
  }

  /** Quotes `amount_from`, `amount_to` or the pair's default. Throws `validation_failed`, `unavailable`. */
  async quote(keyId: string, { pair_id, amount_from, amount_to }: Record<string, unknown>): Promise<Quote> {
    const pair = typeof pair_id === 'string' ? pairOf(pair_id) : null;
    if (pair === null) throw DomainError.invalid({ pair_id: ['is not a pair'] });
    const { name } = this.current;
    const call = { operation: 'quote', keyId } as const;
    const quote = (amount: string | null): Promise<Quote> =>
      this.call(name, call, (provider) => provider.quote(pair.id, amount)).catch(rejectCaller);
    const decimals = countDecimals(pair.from);
    if (amount_to === undefined)
      return quote(amount_from === undefined ? null : readAmount('amount_from', amount_from, decimals));
    const requested = readAmount('amount_to', amount_to, countDecimals(pair.to));
    const { rate } = await quote(null);
    return quote(needed(requested, rate, decimals));
  }

  /** Returns a warning during an outage. The process stays ready, because no process could create orders. */
  async check(): Promise<string | void> {
    if (!this.isConfigured) return 'no exchange provider is configured: no order can be created';
    const name = this.currentName ?? '';
    if (this.unavailable().includes(name))
      return `the exchange provider ${name} is unavailable: no order can be created`;
  }

  private async measured<T>({ name: provider }: ExchangeProvider, call: Call, work: () => Promise<T>) {
    const { operation } = call;
    const stop = providerDuration.startTimer({ provider, operation });
    try {
      return await work();
    } catch (error) {
      const kind = kindOf(error);
      providerErrors.inc({ provider, operation, kind });
      if (isForOperators(error)) this.report(provider, call, kind, error);
      throw error;
    } finally {
      stop();
    }
  }

  private report(provider: string, { operation, orderId }: Call, kind: string, error: unknown): void {
    const msg = 'exchange provider call failed';
    const line = { msg, provider, operation, kind, order_id: orderId ?? null, err: error };
    this.log[kind === 'unavailable' || kind === 'refused' ? 'warn' : 'error'](line);
  }
}

/** Returns false for a caller's mistake and for a call that only has to wait. Operators need not act then. */
function isForOperators(error: unknown): boolean {
  if (error instanceof ProviderRefused) return error.parameter === null;
  return !['later', 'invalid'].includes(kindOf(error));
}

export function kindOf(error: unknown): ProviderUnavailable['kind'] | 'refused' | 'invalid' | 'unexpected' {
  if (error instanceof ProviderUnavailable) return error.kind;
  if (error instanceof ProviderRefused) return 'refused';
  return error instanceof DomainError ? 'invalid' : 'unexpected';
}

/** Throws the error for a caller that waits: 503 with Retry-After during an outage, 422 for a refusal. */
export function rejectCaller(error: unknown): never {
  if (error instanceof DomainError) throw error.asTransient();
  if (error instanceof ProviderUnavailable)
    throw new DomainError('unavailable', 'The exchange provider is unavailable', {}, RETRY_AFTER_SECONDS);
  if (!(error instanceof ProviderRefused)) throw error;
  const { parameter, message } = error;
  if (parameter === null) throw new DomainError('validation_failed', message).asTransient();
  throw DomainError.invalid({ [parameter]: [message] }).asTransient();
}

export function readAmount(name: string, value: unknown, decimals: number): string {
  if (!isDecimal(value, decimals) || isZero(value))
    throw DomainError.invalid({
      [name]: [`must be more than 0, with at most ${decimals} digits after the point`],
    });
  return value;
}
