import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ClaimHeld, type Claim } from '../../../platform/event-store/command-loop-types.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import { ClockCheck } from '../../../platform/postgres/clock-check.js';
import { observe, type Observation } from '../domain/observation.js';
import {
  isAfter,
  existingOrder,
  order,
  shortfall,
  type ExistingOrder,
  type OrderState,
} from '../domain/order.js';
import type { OrderEvent } from '../domain/order-events.js';
import type { ProviderDeposit, ProviderStatus } from './ports.js';
import { ExchangeProviders } from './exchange-providers.js';

interface PolledOrder {
  readonly state: ExistingOrder;
  readonly isDepositPending: boolean;
}

interface ProviderObservation extends Observation {
  readonly deposits: readonly ProviderDeposit[];
}

/** Polls the provider of an order and records what follows. Concurrent polls of one order are one call. */
@Injectable()
export class OrderPoller {
  private readonly logger = new Logger(OrderPoller.name);
  private readonly inFlight = new Map<string, Promise<PolledOrder>>();

  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly providers: ExchangeProviders,
    private readonly clockCheck: ClockCheck,
  ) {}

  /** Throws DomainError `not_found`, and ProviderUnavailable. */
  poll(orderId: string, cause?: EventMetadata): Promise<PolledOrder> {
    const known = this.inFlight.get(orderId);
    if (known !== undefined) return known;
    const poll = this.start(orderId, cause).finally(() => this.inFlight.delete(orderId));
    this.inFlight.set(orderId, poll);
    return poll;
  }

  private async start(orderId: string, cause?: EventMetadata): Promise<PolledOrder> {
    const loaded = existingOrder((await this.loop.load(order, orderId)).state);
    const { provider: name, provider_reference: reference, key_id } = loaded.facts;
    // Polls without a cause are those of the watch.
    const call = { operation: 'status', orderId, keyId: cause === undefined ? null : key_id } as const;
    const status = await this.providers.call(name, call, (provider) =>
      provider.status({ orderId, reference }, [...loaded.deposits, ...loaded.lateDeposits]),
    );
    failpoint('order.polled');
    return this.record(await this.observationOf(status, loaded), loaded, cause);
  }

  private async record(
    observation: ProviderObservation,
    loaded: ExistingOrder,
    cause: EventMetadata | undefined,
  ): Promise<PolledOrder> {
    const { order_id: orderId } = loaded.facts;
    const { isDepositPending } = observation;
    const expected = observe(observation, loaded);
    if (expected.length === 0) return { state: loaded, isDepositPending };
    let events: readonly OrderEvent[] = [];
    try {
      const { state } = await this.loop.execute(
        order,
        orderId,
        (current: OrderState) => [...(events = observe(observation, current))],
        {
          ...(cause === undefined
            ? { metadata: { actor: 'exchange.watch' }, follows: true }
            : { metadata: cause }),
          claims: claimsOf(observation, expected),
        },
      );
      failpoint('order.observed');
      this.report(events, existingOrder(state));
      return { state: existingOrder(state), isDepositPending };
    } catch (error) {
      if (!(error instanceof ClaimHeld)) throw error;
      this.reportRefused(orderId, error);
      return this.record(withoutClaimed(observation, error.claim), loaded, cause);
    }
  }

  private reportRefused(orderId: string, { claim, owner }: ClaimHeld): void {
    const msg = 'deposit refused: its transaction is a deposit of another order';
    this.logger.error({ msg, order_id: orderId, claim: claim.key, owner });
  }

  /** An order may have been paid out for a deposit that never came. */
  private report(events: readonly OrderEvent[], state: ExistingOrder): void {
    for (const { type, data } of events) {
      if (type !== 'order.deposit_missing.v1') continue;
      const msg = 'deposit missing: a reorganisation took it off the chain';
      this.logger.error({ msg, ...data, status: state.status, shortfall: shortfall(state) });
    }
  }

  /** While this process's clock is off, no order ends by it. */
  private async observationOf(
    status: ProviderStatus,
    { facts }: ExistingOrder,
  ): Promise<ProviderObservation> {
    const at = timestamp(this.clock);
    const mayEnd = isAfter(at, facts.expires_at);
    return {
      ...status,
      completeUntil: mayEnd && !(await this.clockCheck.holds()) ? null : status.completeUntil,
      at,
    };
  }
}

/** Without the deposits of a claim that another order has. */
function withoutClaimed(observation: ProviderObservation, { key }: Claim): ProviderObservation {
  const deposits = observation.deposits.filter(({ claim }) => claim !== key);
  return { ...observation, deposits, hasForeignDeposit: true };
}

/** Of the deposits that are about to be recorded. */
function claimsOf({ deposits }: ProviderObservation, events: readonly OrderEvent[]): Claim[] {
  const recorded = new Set(events.flatMap(({ data }) => ('deposit_id' in data ? [data.deposit_id] : [])));
  const keys = deposits.flatMap(({ deposit_id: id, claim }) =>
    claim === undefined || !recorded.has(id) ? [] : [claim],
  );
  return [...new Set(keys)].map((key) => ({
    category: 'deposit',
    key,
    field: 'transaction_hash',
    message: 'is a deposit of another order',
  }));
}
