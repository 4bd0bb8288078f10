import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Reply } from '../../../platform/http/reply.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import type { Responded } from '../application/caller.js';
import { DELIVERIES_SAGA } from '../deliveries/deliveries-saga.js';
import { DESTINATION_FRESH_MS } from '../deliveries/destinations.js';

/** A timer of Node may fire so much before its time. */
const TIMER_EARLY_MS = 2;

/** Responds to writes once reads display them and deliveries follow them. */
@Injectable()
export class WriteResponses {
  constructor(private readonly progress: SubscriptionProgress) {}

  async reply(status: number, { body, position }: Responded): Promise<Reply> {
    await this.progress.waitFor(DELIVERIES_SAGA, position);
    return new Reply(status, body);
  }

  /** Replies once no attempt begins by the former state, which senders read up to DESTINATION_FRESH_MS ago. */
  async replyToChange(status: number, responded: Responded): Promise<Reply> {
    const reply = await this.reply(status, responded);
    if (responded.position !== null) await sleep(DESTINATION_FRESH_MS + TIMER_EARLY_MS);
    return reply;
  }
}
