import { Inject, Injectable, Logger } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ClaimHeld, type Claim } from '../../../platform/event-store/command-loop-types.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import { ClockCheck } from '../../../platform/postgres/clock-check.js';
import { observe, type Observation } from '../domain/observation.js';
import { isAfter, existingOrder, order, shortfall, type ExistingOrder } from '../domain/order.js';
import type { OrderEvent } from '../domain/order-events.js';
import type { ProviderDeposit } from './ports.js';
import { ExchangeProviders, unavailableResponse } from './exchange-providers.js';

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

  /** Polls as {@link poll} does, for a caller that waits. Throws DomainError `unavailable` during an outage. */
  pollFor(orderId: string, cause: EventMetadata): Promise<PolledOrder> {
    return this.poll(orderId, cause).catch((error: unknown) => {
      throw unavailableResponse(error);
    });
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
    const at = timestamp(this.clock);
    // While this process's clock is off, no order ends by it.
    const mayEnd = !isAfter(at, loaded.facts.expires_at) || (await this.clockCheck.holds());
    const completeUntil = mayEnd ? status.completeUntil : null;
    return this.record({ ...status, completeUntil, at }, loaded, cause);
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
    try {
      const executed = await this.loop.execute(order, orderId, (current) => observe(observation, current), {
        ...(cause === undefined
          ? { metadata: { actor: 'exchange.watch' }, follows: true }
          : { metadata: cause }),
        claims: toClaims(observation, expected),
      });
      failpoint('order.observed');
      const state = existingOrder(executed.state);
      // An order may have been paid out for a deposit that never came.
      for (const { data } of executed.events.filter(({ type }) => type === 'order.deposit_missing.v1')) {
        const msg = 'deposit missing: a reorganisation took it off the chain';
        this.logger.error({ msg, ...data, status: state.status, shortfall: shortfall(state) });
      }
      return { state, isDepositPending };
    } catch (error) {
      if (!(error instanceof ClaimHeld)) throw error;
      const { claim, owner } = error;
      const msg = 'deposit refused: its transaction is a deposit of another order';
      this.logger.error({ msg, order_id: orderId, claim: claim.key, owner });
      const deposits = observation.deposits.filter((each) => each.claim !== claim.key);
      return this.record({ ...observation, deposits, hasForeignDeposit: true }, loaded, cause);
    }
  }
}

/** The claims of the deposits that are about to be recorded. */
function toClaims({ deposits }: ProviderObservation, events: readonly OrderEvent[]): Claim[] {
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
