import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { CommandBus, type Command } from '@nestjs/cqrs';
import { Reply } from '../../../platform/http/reply.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import type { Responded } from './merchant.commands.js';
import { DELIVERIES_SAGA } from '../deliveries/deliveries.saga.js';
import { DESTINATION_FRESH_MS } from './destinations.store.js';

/** The time by which a timer of Node may fire early. */
const TIMER_EARLY_MS = 2;

/** Executes writes, and responds once reads and deliveries reflect them. */
@Injectable()
export class WriteResponses {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** @param expiresCache also waits until the former state of the endpoint has expired in all senders */
  async reply(status: number, command: Command<Responded>, expiresCache = false): Promise<Reply> {
    const { body, position } = await this.commandBus.execute(command);
    await this.progress.waitFor(DELIVERIES_SAGA, position);
    if (expiresCache && position !== null) await sleep(DESTINATION_FRESH_MS + TIMER_EARLY_MS);
    return new Reply(status, body);
  }
}
