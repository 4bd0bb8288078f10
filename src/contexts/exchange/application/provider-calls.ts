import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { backoffMs } from '../../../platform/background/backoff.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { withTimeout } from '../../../platform/timeout.js';
import {
  EXCHANGE_PROVIDERS,
  ProviderUnavailable,
  type ExchangeProvider,
  type ExchangeProviders,
} from './ports.js';

/** A provider that does not respond within this time is taken for unavailable. */
const TIMEOUT_MS = 10_000;
/** So many calls in a row may fail, within a minute, before nobody asks the provider for a while. */
const TOLERATED = 3;
const STREAK_MS = 60_000;
const REST = { firstMs: 500, mostMs: 5000 };

interface Circuit {
  failures: number;
  /** By the clock that never jumps. */
  failedAt: number;
  restUntil: number;
}

const MAX_KEYS = 10_000;

/**
 * Calls of providers, each bounded in time. One that fails again and again is not called for seconds (ADR 117). The calls
 * for each key have a circuit of their own: what callers of one key provoke stops calls for that key alone (ADR 150).
 */
@Injectable()
export class ProviderCalls {
  /** Of the service's own calls, by provider; while one is open there are no calls for keys either. */
  private readonly circuits = new Map<string, Circuit>();
  private readonly circuitsOfKeys = new LRUCache<string, Circuit>({ max: MAX_KEYS });

  constructor(@Inject(EXCHANGE_PROVIDERS) private readonly providers: ExchangeProviders) {}

  /** The one for new orders. Throws DomainError `unavailable` when there is none. */
  get current(): string {
    return this.providers.current.name;
  }

  /** Names of those that are left alone now. */
  resting(): readonly string[] {
    const now = performance.now();
    return [...this.circuits].filter(([, { restUntil }]) => restUntil > now).map(([name]) => name);
  }

  /**
   * `keyId`: whose callers wait for it; null for the service's own calls. Throws what `work` throws, and
   * {@link ProviderUnavailable} when it takes too long or the provider is not called now.
   */
  async call<T>(
    name: string,
    keyId: string | null,
    work: (provider: ExchangeProvider) => Promise<T>,
  ): Promise<T> {
    const provider = this.providers.of(name);
    const own = circuitIn(this.circuits, name);
    const circuit = keyId === null ? own : circuitIn(this.circuitsOfKeys, `${name} ${keyId}`);
    const startedAt = performance.now();
    if (startedAt < Math.max(own.restUntil, circuit.restUntil))
      throw new ProviderUnavailable(`${name} was unavailable a moment ago`);
    // After a rest one call goes ahead, and the others wait for what becomes of it.
    if (circuit.failures >= TOLERATED) circuit.restUntil = startedAt + TIMEOUT_MS;
    try {
      const result = await withTimeout(TIMEOUT_MS, work(provider), isLate);
      works(circuit);
      return result;
    } catch (error) {
      if (error instanceof ProviderUnavailable && error.kind === 'away') failed(circuit, startedAt);
      else works(circuit);
      throw error;
    }
  }
}

function circuitIn(circuits: Map<string, Circuit> | LRUCache<string, Circuit>, name: string): Circuit {
  const known = circuits.get(name);
  if (known !== undefined) return known;
  const circuit = { failures: 0, failedAt: -Infinity, restUntil: -Infinity };
  circuits.set(name, circuit);
  return circuit;
}

function works(circuit: Circuit): void {
  circuit.failures = 0;
  circuit.restUntil = -Infinity;
}

/** Calls that fail together count once. */
function failed(circuit: Circuit, startedAt: number): void {
  const now = performance.now();
  if (startedAt < circuit.failedAt) return;
  circuit.failures = now - circuit.failedAt > STREAK_MS ? 1 : circuit.failures + 1;
  circuit.failedAt = now;
  if (circuit.failures >= TOLERATED) circuit.restUntil = now + backoffMs(REST, circuit.failures - TOLERATED);
}

function isLate(): never {
  throw new ProviderUnavailable(`no response within ${TIMEOUT_MS / 1000} s`);
}

/** For those who wait for a response: 503, to be tried again. */
export function providerIsAway(error: unknown): unknown {
  return error instanceof ProviderUnavailable
    ? new DomainError('unavailable', 'The exchange provider is unavailable', {}, RETRY_AFTER_SECONDS)
    : error;
}

const RETRY_AFTER_SECONDS = 5;
