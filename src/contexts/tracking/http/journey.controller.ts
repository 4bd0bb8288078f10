import { Controller, Get, Query } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { MerchantId, UuidParam } from '../../../platform/http/decorators.js';
import type { Query as QueryString } from '../../../platform/http/query.js';
import { Reply } from '../../../platform/http/reply.js';
import { UsersView } from '../../users/contract.js';
import { JourneyView, NO_EVENTS } from '../views/journey.js';
import { readJourneyFilter } from './journey-filter.js';

/**
 * GET /merchants/v1/users/{id}/events (contract.md 17.9): the events that carry the user's
 * external_id, from before and after the user was created.
 */
@Controller('merchants/v1/users')
export class JourneyController {
  constructor(
    private readonly users: UsersView,
    private readonly journeys: JourneyView,
  ) {}

  @Get(':id/events')
  async get(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'User') userId: string,
    @Query() query: QueryString,
  ): Promise<Reply> {
    const filter = readJourneyFilter(query);
    const user = await this.users.find(merchantId, userId);
    if (user === null) throw DomainError.notFound('User');
    if (user.externalId === null) return new Reply(200, NO_EVENTS);
    return new Reply(200, await this.journeys.page(merchantId, user.externalId, filter));
  }
}
