import { Inject } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandHandler } from '../../../platform/commands.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { failpoint } from '../../../platform/failpoints.js';
import { underKey, type IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { createOrder, made, order, type MadeOrder } from '../domain/order.js';
import type { OrderFacts } from '../domain/order-events.js';
import { orderResponse } from '../domain/order-record.js';
import { decimalsOf, pairOf } from '../domain/tokens.js';
import { userHash } from '../domain/user-hash.js';
import { ProviderRefused, type ProviderOrder } from './ports.js';
import { ProviderCalls, providerIsAway } from './provider-calls.js';

/** What is asked for; checked already, but for what only the provider can tell. */
export interface NewOrder {
  readonly keyId: string;
  readonly merchantId: string;
  /** One of the catalogue. */
  readonly pairId: string;
  readonly withdrawAddress: string;
  readonly withdrawAddressTag: string | null;
  readonly withdrawAddressMemo: string | null;
  readonly userId: string | null;
  /** The caller's network address, for the provider; never stored. */
  readonly callerAddress: string;
  /** What stands for the caller: kept as a keyed hash, and only without a `userId`. */
  readonly client: string;
  /** Decimal string; null: the pair's default. */
  readonly amountFrom: string | null;
}

/**
 * POST /v1/orders (contract.md 22.1). Gives the order as it is then; a repeat under the ticket's key gives the same one.
 * Throws `validation_failed` naming the parameter that the provider refuses, `unavailable` when it is away.
 */
export class CreateOrder extends Command<MadeOrder> {
  constructor(
    readonly order: NewOrder,
    /** Goes into the response that is stored: {@link orderResponse}. */
    readonly complianceNotice: string | null,
    readonly ticket: IdempotencyTicket,
    readonly cause: EventMetadata,
  ) {
    super();
  }
}

/** The provider first: it makes the same order for the same id, so that a crash in between is repeated safely. */
@CommandHandler(CreateOrder)
export class CreateOrderHandler implements ICommandHandler<CreateOrder> {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'exchangeOrderExpirySeconds'>,
    private readonly calls: ProviderCalls,
    private readonly keyedHash: KeyedHash,
  ) {}

  execute(command: CreateOrder): Promise<MadeOrder> {
    return underKey(command.ticket, 'order', (orderId) => this.create(orderId, command));
  }

  private async create(
    orderId: string,
    { order: wanted, complianceNotice, ticket, cause }: CreateOrder,
  ): Promise<MadeOrder> {
    const pair = pairOf(wanted.pairId);
    if (pair === null) throw DomainError.invalid({ pair_id: ['is no pair that can be exchanged'] });
    const provider = this.calls.current;
    const given = await this.atProvider(provider, orderId, wanted);
    failpoint('order.provider_created');
    const facts = this.factsOf(orderId, wanted, provider, given, decimalsOf(pair.to));
    const { state } = await this.loop.execute(order, orderId, (current) => createOrder(facts, current), {
      metadata: cause,
      expectNew: true,
      response: (after) =>
        ticket.response(201, orderResponse(made(after), complianceNotice), { holdsSecret: true }),
    });
    return made(state);
  }

  private async atProvider(provider: string, orderId: string, wanted: NewOrder): Promise<ProviderOrder> {
    try {
      return await this.calls.call(provider, wanted.keyId, (it) => it.create({ ...wanted, orderId }));
    } catch (error) {
      if (!(error instanceof ProviderRefused)) throw providerIsAway(error);
      if (error.parameter === null) throw new DomainError('validation_failed', error.message);
      throw DomainError.invalid({ [error.parameter]: [error.message] });
    }
  }

  private factsOf(
    orderId: string,
    wanted: NewOrder,
    provider: string,
    given: ProviderOrder,
    decimalsTo: number,
  ): OrderFacts {
    const now = this.clock.now();
    const expiresAt = Math.min(
      now.getTime() + this.config.exchangeOrderExpirySeconds * 1000,
      Date.parse(given.expiresAt),
    );
    return {
      order_id: orderId,
      key_id: wanted.keyId,
      merchant_id: wanted.merchantId,
      pair_id: wanted.pairId,
      withdraw_address: wanted.withdrawAddress,
      withdraw_address_tag: wanted.withdrawAddressTag,
      withdraw_address_memo: wanted.withdrawAddressMemo,
      user_id: wanted.userId,
      user_hash: wanted.userId === null ? null : userHash(this.keyedHash, wanted.keyId, wanted.userId),
      caller:
        wanted.userId === null
          ? this.keyedHash.of('exchange caller', wanted.merchantId, wanted.client)
          : null,
      provider,
      provider_reference: given.reference,
      deposit_address: given.depositAddress,
      deposit_address_tag: given.depositAddressTag,
      amount_from: given.amountFrom,
      amount_to: given.amountTo,
      rate: given.rate,
      minimum: given.minimum,
      maximum: given.maximum,
      decimals_to: decimalsTo,
      created_at: now.toISOString(),
      expires_at: new Date(expiresAt).toISOString(),
    };
  }
}
